#include "attend/io/checkpoint.h"

#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "attend/base/files.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

class Checkpoints : public DirectoryTest {
 protected:
  Checkpoint save(int64_t step, const std::string& text = "weights") {
    return write_checkpoint(directory_, step, [&](const fs::path& path) {
      write(path / "weights", text + std::to_string(step));
      write(path / "state", "");
    });
  }
  std::vector<int64_t> steps() const {
    std::vector<int64_t> found;
    for (const Checkpoint& checkpoint : list_checkpoints(directory_)) {
      found.push_back(checkpoint.step);
    }
    return found;
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), {}));
  }

  std::optional<Checkpoint> latest() {
    return latest_checkpoint(directory_, [this](const std::string& text) { messages_ += text; });
  }

  int64_t latest_step() {
    const auto found = latest();
    return found ? found->step : -1;
  }

  std::string messages_;
};

using Steps = std::vector<int64_t>;

TEST_F(Checkpoints, AreListedByStep) {
  EXPECT_FALSE(latest_checkpoint(directory_ / "missing").has_value());
  EXPECT_FALSE(latest_checkpoint(directory_).has_value());
  for (const int64_t step : {5, 100, 20}) save(step);
  fs::create_directory(directory_ / "step-7x");
  fs::create_directory(directory_ / "step-");
  write(directory_ / "step-300", "a file");
  EXPECT_EQ(steps(), (Steps{5, 20, 100}));
  const std::optional<Checkpoint> newest = latest();
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step, 100);
  EXPECT_EQ(read(newest->path / "weights"), "weights100");
  EXPECT_EQ(messages_, "");
}

TEST_F(Checkpoints, AppearWholeOrNotAtAll) {
  save(1);
  EXPECT_THROW(write_checkpoint(directory_, 2,
                                [&](const fs::path& path) {
                                  write(path / "weights", "half");
                                  EXPECT_EQ(steps(), Steps{1});
                                  throw IoError("stop");
                                }),
               IoError);
  EXPECT_EQ(steps(), Steps{1});
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Checkpoints, OfTheSameStepAreReplaced) {
  save(1, "old");
  save(1, "new");
  EXPECT_EQ(read(directory_ / "step-1" / "weights"), "new1");
  EXPECT_EQ(checkpoint_damage(directory_ / "step-1"), "");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Checkpoints, HaveTheUsersMask) {
  const mode_t before = ::umask(027);
  save(1);
  ::umask(before);
  EXPECT_EQ(fs::status(directory_ / "step-1").permissions(), static_cast<fs::perms>(0750));
}

TEST_F(Checkpoints, AFullDiskLeavesTheOthers) {
  save(1);
  {
    const SmallFiles full(1000);
    EXPECT_THROW(write_checkpoint(directory_, 2,
                                  [](const fs::path& path) {
                                    replace_file(path / "weights", std::string(5000, 'x'));
                                  }),
                 IoError);
  }
  EXPECT_EQ(steps(), Steps{1});
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Checkpoints, AReadOnlyDirectoryIsNamed) {
  EXPECT_NE(message_of<IoError>([&] {
              write_checkpoint(directory_ / "missing", 1, [](const fs::path&) {});
            }).find(directory_.string() + "/missing"),
            std::string::npos);
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(save(1), IoError);
  fs::permissions(directory_, fs::perms::owner_all);
}

TEST_F(Checkpoints, DamagedOnesAreSkippedWithAMessage) {
  const struct {
    const char* said;
    void (*damage)(const fs::path&);
  } cases[] = {
      {"weights has 3 bytes instead of 9", [](const fs::path& p) { write(p / "weights", "cut"); }},
      {"weights has changed since it was written",
       [](const fs::path& p) { write(p / "weights", "weightz40"); }},
      {"state is missing", [](const fs::path& p) { fs::remove(p / "state"); }},
      {"manifest.json is missing", [](const fs::path& p) { fs::remove(p / "manifest.json"); }},
      {"state is not a file",
       [](const fs::path& p) {
         fs::remove(p / "state");
         fs::create_directory(p / "state");
       }},
      {"manifest.json is damaged", [](const fs::path& p) { write(p / "manifest.json", "{"); }},
      {"manifest.json is damaged", [](const fs::path& p) { write(p / "manifest.json", "{}"); }},
      {"manifest.json is damaged",
       [](const fs::path& p) { write(p / "manifest.json", R"({"files":{"weights":3}})"); }},
      {"'../x' is not a file name",
       [](const fs::path& p) { write(p / "manifest.json", R"({"files":{"../x":{}}})"); }},
  };
  for (const auto& [said, damage] : cases) {
    save(30);
    save(40);
    damage(directory_ / "step-40");
    messages_.clear();
    const std::optional<Checkpoint> newest = latest();
    ASSERT_TRUE(newest.has_value());
    EXPECT_EQ(newest->step, 30);
    EXPECT_EQ(messages_,
              fmt::format("checkpoint step-40 is damaged ({}); going on from step-30", said));
  }
}

TEST_F(Checkpoints, NoneThatIsWholeIsNotNoneAtAll) {
  save(30);
  save(40);
  write(directory_ / "step-30" / "weights", "cut");
  fs::remove(directory_ / "step-40" / "state");
  const std::string message = message_of<IoError>([&] { latest(); });
  EXPECT_NE(message.find("no checkpoint is whole: step-40 is damaged (state is missing), step-30 "
                         "is damaged (weights has 3 bytes instead of 9)"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("or overwrite the model"), std::string::npos) << message;
  EXPECT_EQ(messages_, "");
}

TEST_F(Checkpoints, WhatCannotBeReadIsNotDamaged) {
  save(30);
  for (const char* name : {"weights", "manifest.json"}) {
    save(40);
    const fs::path file = directory_ / "step-40" / name;
    fs::remove(file);
    fs::create_symlink(file, file);  // leads nowhere, for root too
    expect_error<IoError>([&] { latest(); }, file.string() + ": Too many levels");
  }
  if (::geteuid() == 0) return;  // who may read anything
  save(40);
  fs::permissions(directory_ / "step-40" / "weights", fs::perms::none);
  expect_error<IoError>([&] { latest(); }, "Permission denied");
}

TEST_F(Checkpoints, PruningKeepsLastBestAndEvery) {
  for (int64_t step = 10; step <= 100; step += 10) save(step);
  EXPECT_EQ(prune_checkpoints(directory_, {.last = 2, .best = 40, .every = 30}),
            (Steps{10, 20, 50, 70, 80}));
  EXPECT_EQ(steps(), (Steps{30, 40, 60, 90, 100}));
  EXPECT_EQ(prune_checkpoints(directory_, {}), (Steps{30, 40, 60, 90}));
  EXPECT_EQ(steps(), Steps{100});
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Checkpoints, PruningNeverRemovesTheOnlyGoodOne) {
  for (int64_t step = 1; step <= 5; ++step) save(step);
  write(directory_ / "step-5" / "weights", "");
  write(directory_ / "step-4" / "weights", "");
  EXPECT_EQ(prune_checkpoints(directory_, {.last = 1}), (Steps{1, 2, 4}));
  EXPECT_EQ(latest_step(), 3);
  EXPECT_EQ(prune_checkpoints(directory_, {.last = 0}), Steps{5});
  EXPECT_EQ(steps(), Steps{3});
}

TEST_F(Checkpoints, IncompleteLeftoversAreIgnoredAndRemoved) {
  save(1);
  for (const char* name : {".step-2.abcdef", ".step-2.new"}) {
    fs::create_directory(directory_ / name);
    write(directory_ / name / "weights", "half");
  }
  EXPECT_EQ(latest_step(), 1);
  EXPECT_EQ(steps(), Steps{1});
  EXPECT_EQ(recover_checkpoints(directory_), Steps{});
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(recover_checkpoints(directory_ / "missing"), Steps{});
}

TEST_F(Checkpoints, WholeLeftoversAreRecovered) {
  const TemporaryDirectory elsewhere;
  const fs::path copy = elsewhere.path() / "copy", place = directory_ / "step-2";
  save(1);
  fs::rename(save(2).path, copy);
  for (const char* name : {".step-2.abcdef", ".step-2.new", "step-2.old"}) {
    fs::copy(copy, directory_ / name);
    EXPECT_EQ(recover_checkpoints(directory_), Steps{2}) << name;
    EXPECT_EQ(latest_step(), 2);
    EXPECT_EQ(read(place / "weights"), "weights2");
    EXPECT_EQ(entries(), 2u);
    // One of that name that is damaged gives way.
    write(place / "weights", "cut");
    fs::copy(copy, directory_ / name);
    EXPECT_EQ(recover_checkpoints(directory_), Steps{2}) << name;
    EXPECT_EQ(checkpoint_damage(place), "");
    EXPECT_EQ(entries(), 2u);
    // One that is whole stays.
    save(2, "other");
    fs::copy(copy, directory_ / name);
    EXPECT_EQ(recover_checkpoints(directory_), Steps{}) << name;
    EXPECT_EQ(read(place / "weights"), "other2");
    EXPECT_EQ(entries(), 2u);
    fs::remove_all(place);
  }
}

TEST_F(Checkpoints, WhatWasBeingRemovedIsNotRecovered) {
  save(1);
  fs::rename(save(2).path, directory_ / ".step-2.removed");
  EXPECT_EQ(recover_checkpoints(directory_), Steps{});
  EXPECT_EQ(steps(), Steps{1});
  EXPECT_EQ(entries(), 1u);
}

// Between the two renames of a replacement.
TEST_F(Checkpoints, AReplacedOneIsInReachMeanwhile) {
  save(1, "first");
  fs::rename(save(2, "old").path, directory_ / "step-2.old");
  const auto newest = latest();
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step, 2);
  EXPECT_EQ(read(newest->path / "weights"), "old2");
  fs::rename(save(2, "new").path, directory_ / ".step-2.new");
  EXPECT_EQ(recover_checkpoints(directory_), Steps{2});
  EXPECT_EQ(read(directory_ / "step-2" / "weights"), "new2");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Checkpoints, ADamagedOldOneIsNotForgotten) {
  fs::rename(save(2).path, directory_ / "step-2.old");
  write(directory_ / "step-2.old" / "weights", "cut");
  EXPECT_EQ(recover_checkpoints(directory_), Steps{});
  expect_error<IoError>([&] { latest(); }, "no checkpoint is whole: step-2.old is damaged");
}

TEST_F(Checkpoints, AManifestWithoutBoundIsDamage) {
  save(1);
  write(directory_ / "step-1" / "manifest.json", std::string(2 << 20, ' '));
  EXPECT_EQ(checkpoint_damage(directory_ / "step-1"), "manifest.json is damaged");
}

// A run is killed again and again, in the midst of writing, replacing and pruning: what it had
// finished is there, and whole.
TEST_F(Checkpoints, SurviveKillsAtAnyMoment) {
  std::mt19937 random(1);  // NOLINT: the same every time
  int64_t reached = 0;
  for (int round = 0; round < 25; ++round) {
    int finished[2];
    ASSERT_EQ(::pipe(finished), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int64_t step = reached;; ++step) {
        save(step, std::string(20'000, 'x'));
        if (::write(finished[1], &step, sizeof step) != sizeof step) ::_exit(1);
        prune_checkpoints(directory_, {.last = 2});
      }
    }
    ::close(finished[1]);
    int64_t last = -1;  // the first is waited for, so that each round gets on
    ASSERT_EQ(::read(finished[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    ::usleep(random() % 10'000);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    while (::read(finished[0], &last, sizeof last) > 0) {
    }
    ::close(finished[0]);
    const std::optional<Checkpoint> newest = latest();
    ASSERT_TRUE(newest.has_value());
    EXPECT_GE(newest->step, last);
    EXPECT_LE(newest->step, last + 1);
    for (const Checkpoint& checkpoint : list_checkpoints(directory_)) {
      EXPECT_EQ(checkpoint_damage(checkpoint.path), "");
    }
    recover_checkpoints(directory_);
    EXPECT_EQ(entries(), steps().size());
    EXPECT_LE(entries(), 3u);
    reached = latest_step();  // written once more, as after a resume
  }
  EXPECT_EQ(messages_, "");
}

}  // namespace
}  // namespace attend
