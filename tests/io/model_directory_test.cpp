#include "attend/io/model_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "attend/io/json_log.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

class ModelDirectories : public DirectoryTest {};

TEST_F(ModelDirectories, HaveTheirPartsWithin) {
  const ModelDirectory model{directory_ / "a" / "model"};
  model.create();
  model.create();
  EXPECT_TRUE(fs::is_directory(model.checkpoints()));
  EXPECT_EQ(model.config(), directory_ / "a/model/config.json");
  EXPECT_EQ(model.weights(), directory_ / "a/model/model.safetensors");
  EXPECT_EQ(model.tokenizer(), directory_ / "a/model/tokenizer.model");
  EXPECT_EQ(model.tokenizer("source"), directory_ / "a/model/tokenizer.source.model");
  write(directory_ / "file", "in the way");
  EXPECT_THROW(ModelDirectory{directory_ / "file"}.create(), IoError);
}

TEST_F(ModelDirectories, AreLockedByOneAtATime) {
  {
    const DirectoryLock lock(directory_);
    const std::string said = message_of<IoError>([&] { DirectoryLock second(directory_); });
    EXPECT_NE(said.find("in use by another trainer (process " + std::to_string(::getpid()) + ")"),
              std::string::npos)
        << said;
  }
  const DirectoryLock again(directory_);
  EXPECT_THROW(DirectoryLock(directory_ / "missing"), IoError);
}

TEST_F(ModelDirectories, AreUnlockedWhenTheirTrainerDies) {
  int locked[2];
  ASSERT_EQ(::pipe(locked), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const DirectoryLock lock(directory_);
    if (::write(locked[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char ready = 0;
  ASSERT_EQ(::read(locked[0], &ready, 1), 1);
  EXPECT_NE(message_of<IoError>([&] {
              DirectoryLock lock(directory_);
            }).find("(process " + std::to_string(child) + ")"),
            std::string::npos);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const DirectoryLock lock(directory_);
  ::close(locked[0]);
  ::close(locked[1]);
}

class JsonLogs : public DirectoryTest {
 protected:
  void SetUp() override {
    DirectoryTest::SetUp();
    path_ = directory_ / "log.jsonl";
  }
  fs::path path_;
};

TEST_F(JsonLogs, AppendWholeLines) {
  JsonLog log(path_, {});
  log.append(R"({"step":1})");
  EXPECT_EQ(read(path_), "{\"step\":1}\n");
  log.append(R"({"step":2})");
  log.sync();
  EXPECT_EQ(read(path_), "{\"step\":1}\n{\"step\":2}\n");
}

TEST_F(JsonLogs, ContinueAfterTheResumedStep) {
  const std::string until_2 =
      "{\"model\":\"rnn\"}\n{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"x\":1}\n";
  write(path_, until_2 + "{\"step\":3}\n{\"step\":4}\n{\"step\":5");
  {
    JsonLog log(path_, 2);
    EXPECT_EQ(read(path_), until_2);
    log.append(R"({"step":3})");
  }
  EXPECT_EQ(read(path_), until_2 + "{\"step\":3}\n");
}

TEST_F(JsonLogs, CutATornOrGarbledLine) {
  write(path_, std::string("{\"step\":1}\n\0\0\n[1]\n{\"step\":2}\n{\"step\":3}", 38));
  const JsonLog log(path_, 9);
  EXPECT_EQ(read(path_), "{\"step\":1}\n{\"step\":2}\n");
}

// What copies and writes a tree of JSON recurses: lines of other people's logs must not be deep.
TEST_F(JsonLogs, PassOverLinesThatAreNoReports) {
  const std::string deep =
      R"({"step":1,"loss":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  EXPECT_FALSE(parse_log_line(deep));
  EXPECT_FALSE(parse_log_line(R"({"step":1,"note":")" + std::string(100'000, 'x') + "\"}"));
  EXPECT_FALSE(parse_log_line("[1]"));
  EXPECT_FALSE(parse_log_line(R"({"step":1)"));
  EXPECT_TRUE(parse_log_line(R"({"step":1,"loss":[[[1]]]})"));
  write(path_, "{\"step\":1}\n" + deep + "\n{\"step\":2}\n");
  const JsonLog log(path_, 2);
  EXPECT_EQ(read(path_), "{\"step\":1}\n{\"step\":2}\n");
}

TEST_F(JsonLogs, StartEmptyWithoutAStepToResume) {
  write(path_, "{\"step\":1}\n{\"model\":\"rnn\"}\n");
  const JsonLog log(path_, {});
  EXPECT_EQ(read(path_), "");
}

TEST_F(JsonLogs, AFullDiskLeavesNoHalfLine) {
  JsonLog log(path_, {});
  log.append(R"({"step":1})");
  {
    const SmallFiles full(30);
    EXPECT_THROW(log.append("{\"step\":2,\"text\":\"" + std::string(50, 'x') + "\"}"), IoError);
  }
  log.append(R"({"step":2})");
  EXPECT_EQ(read(path_), "{\"step\":1}\n{\"step\":2}\n");
  EXPECT_THROW(JsonLog(directory_ / "missing" / "log", {}), IoError);
}

}  // namespace
}  // namespace attend
