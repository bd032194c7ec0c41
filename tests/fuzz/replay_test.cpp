// The inputs that ./dev fuzz kept, and those it begins with, once more: none may do harm.
#include <gtest/gtest.h>

#include "attend/base/files.h"
#include "tests/fuzz/target.h"
#include "tests/tar.h"

namespace attend::fuzz {
namespace {

class FuzzReplay : public testing::TestWithParam<Target> {};

TEST_P(FuzzReplay, DoesNoHarm) {
  const Target& target = GetParam();
  for (const std::string& seed : target.seeds()) run(target, seed);
  const auto path = std::filesystem::path(ATTEND_FUZZ_CORPUS) / (std::string(target.name) + ".tar");
  ASSERT_TRUE(std::filesystem::exists(path)) << "./dev fuzz " << target.name << " makes it";
  const std::string archive = file_contents(path);
  const auto inputs = files_of_tar(archive);
  EXPECT_GT(inputs.size(), 10U);
  for (const auto& [name, bytes] : inputs) {
    SCOPED_TRACE(name);
    run(target, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzReplay, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace attend::fuzz
