// Every hostile file is refused by name, in little memory, each in a process of its own.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <set>
#include <sstream>

#include "attend/base/files.h"
#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

constexpr size_t kMostMemory = size_t{16} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;  // most of it is the sanitizer's
#else
constexpr bool kMemoryIsOurs = true;
#endif

struct Opened {
  int status = -1;
  size_t memory = 0;
  std::string message;
};

std::string quoted(const std::string& text) { return "'" + text + "'"; }

Opened run_program(const std::string& arguments) {
  const std::string command = quoted(ATTEND_HOSTILE) + " " + arguments;
  std::FILE* const output = ::popen(command.c_str(), "r");
  EXPECT_NE(output, nullptr);
  std::string text;
  char buffer[4096];
  for (size_t size = 0; (size = std::fread(buffer, 1, sizeof buffer, output)) > 0;) {
    text.append(buffer, size);
  }
  Opened opened{.status = ::pclose(output)};
  std::istringstream lines(text);
  lines >> opened.memory;
  lines.ignore();
  std::getline(lines, opened.message, '\0');
  return opened;
}

class Hostile : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = std::make_unique<TemporaryDirectory>();
    ASSERT_EQ(run_program("write " + quoted(directory_->path().string())).status, 0);
  }
  static void TearDownTestSuite() { directory_.reset(); }

  static void expect_refused(const std::vector<Case>& cases) {
    for (const Case& one : cases) {
      SCOPED_TRACE(one.name);
      const Opened opened =
          run_program("open " + quoted(one.name) + " " + quoted(directory_->path().string()));
      ASSERT_EQ(opened.status, 0) << "it crashed";
      EXPECT_NE(opened.message.find(one.expected), std::string::npos) << opened.message;
      if (one.expected.empty()) {
        EXPECT_EQ(opened.message, "\n");
      } else {
        EXPECT_NE(opened.message.find(name_in_messages(*one.reader)), std::string::npos)
            << opened.message;
      }
      EXPECT_LT(opened.message.size(), 1500u);
      for (const char c : opened.message) {
        EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
      }
      if (kMemoryIsOurs) {
        EXPECT_LT(opened.memory, kMostMemory);
      }
    }
  }

 private:
  static inline std::unique_ptr<TemporaryDirectory> directory_;
};

TEST_F(Hostile, Documents) { expect_refused(document_cases()); }
TEST_F(Hostile, SizesOfModels) { expect_refused(size_cases()); }
TEST_F(Hostile, Logs) { expect_refused(log_cases()); }
TEST_F(Hostile, Tensors) { expect_refused(tensor_cases()); }
TEST_F(Hostile, Vocabularies) { expect_refused(vocabulary_cases()); }
TEST_F(Hostile, SentencePieceModels) { expect_refused(sentencepiece_cases()); }
TEST_F(Hostile, TextsAndCorpora) { expect_refused(data_cases()); }

TEST(HostileCases, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Case& one : all_cases()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  EXPECT_GE(names.size(), 60u);
}

}  // namespace
}  // namespace attend::hostile
