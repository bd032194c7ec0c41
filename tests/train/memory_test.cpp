// Where memory ends: an error that says what was asked for, and no other end of the program.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "attend/base/parallel.h"
#include "attend/models/text_model.h"
#include "tests/little_memory.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

// Ends the process: with 1 and the message where there was too little memory.
template <typename F>
[[noreturn]] void end_with(const F& f) {
  try {
    f();
  } catch (const MemoryError& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(1);
  }
  std::_Exit(0);
}

// Each of its matrices takes 4 MB.
RunConfig large_run(const fs::path& directory) {
  RunConfig config = small_run(directory);
  transformer(config).feed_forward = 65536;
  return config;
}

constexpr const char* kMessage =
    "out of memory: asked for 4 MB, with [0-9]+ MB in use, for a tensor of shape "
    "\\[(65536, 16|16, 65536)\\]";

TEST(LittleMemory, EndsTrainingWithAnErrorThatSaysWhatWasAskedFor) {
  if (!kMemoryCanBeLimited) GTEST_SKIP();
  const TemporaryDirectory directory;
  const RunConfig config = large_run(directory.path());
  release_unused_memory();
  const auto train_with_little = [&] {
    set_thread_count(1);  // stacks of threads take address space too
    leave_memory(size_t{40} << 20);
    end_with([&] { run(config); });
  };
  EXPECT_EXIT(train_with_little(), testing::ExitedWithCode(1), kMessage);
}

TEST(LittleMemory, EndsLoadingWithAnErrorThatSaysWhatWasAskedFor) {
  if (!kMemoryCanBeLimited) GTEST_SKIP();
  const TemporaryDirectory directory;
  RunConfig config = large_run(directory.path());
  config.training.steps = 1;
  run(config);
  release_unused_memory();
  const size_t file = fs::file_size(config.out / "model.safetensors");
  const auto load_with_little = [&] {
    leave_memory(file / 2);
    end_with([&] { TextModel::load(config.out); });
  };
  EXPECT_EXIT(load_with_little(), testing::ExitedWithCode(1), kMessage);
}

}  // namespace
}  // namespace attend
