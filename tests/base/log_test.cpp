#include "attend/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "attend/base/parallel.h"

namespace attend {
namespace {

// Restores the sink that was there before the test.
struct SinkScope {
  explicit SinkScope(LogSink sink) : before(set_log_sink(std::move(sink))) {}
  ~SinkScope() { set_log_sink(std::move(before)); }
  LogSink before;
};

TEST(Log, ReachesTheSink) {
  std::vector<std::pair<LogLevel, std::string>> seen;
  const SinkScope scope(
      [&](LogLevel level, std::string_view text) { seen.emplace_back(level, text); });
  log(LogLevel::kWarning, "loss is {} at step {}", "NaN", 7);
  log_message(LogLevel::kDebug, "{braces} stay");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], std::pair(LogLevel::kWarning, std::string("loss is NaN at step 7")));
  EXPECT_EQ(seen[1], std::pair(LogLevel::kDebug, std::string("{braces} stay")));
}

TEST(Log, WithoutASinkIsDropped) {
  const SinkScope scope(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  log(LogLevel::kError, "nobody listens");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, SetReturnsTheSinkItReplaces) {
  int first = 0, second = 0;
  const SinkScope scope([&](LogLevel, std::string_view) { ++first; });
  LogSink replaced = set_log_sink([&](LogLevel, std::string_view) { ++second; });
  log_message(LogLevel::kInfo, "to the second");
  set_log_sink(std::move(replaced));
  log_message(LogLevel::kInfo, "to the first");
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(Log, CallsDoNotOverlap) {
  const ThreadCountScope threads(4);
  std::vector<std::string> seen;  // would tear without the lock
  const SinkScope scope([&](LogLevel, std::string_view text) { seen.emplace_back(text); });
  parallel_for(400, 1, [](size_t i, size_t) { log(LogLevel::kInfo, "line {}", i); });
  EXPECT_EQ(seen.size(), 400u);
}

}  // namespace
}  // namespace attend
