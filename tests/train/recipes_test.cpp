// The settings of the recipes: every field they name is there, and none of them is an old one.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "attend/io/config.h"
#include "attend/train/run_config.h"

namespace attend {
namespace {

TEST(Recipes, HaveSettingsThatCanBeRead) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ATTEND_RECIPES)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    ++files;
    RunConfig config;
    const std::string text = config_text(entry.path());
    if (const auto preset = peek(text, "model.preset", entry.path().string())) {
      config.model = ModelConfig::of_preset(*preset);
    }
    std::string said;
    EXPECT_NO_THROW(
        read_run_config(config, entry.path(), [&said](const std::string& line) { said += line; }));
    EXPECT_EQ(said, "");
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace attend
