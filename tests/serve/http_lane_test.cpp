// What waits in a lane, and for how long.
#include "attend/serve/http_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace attend {
namespace {

TEST(HttpLane, WhoHasGoneTakesNoPlace) {
  std::latch busy(1), go_on(1), done(1);
  std::atomic<bool> wanted = true;
  std::atomic<int> worked = 0;
  HttpLane lane({.threads = 1, .waiting = 2});
  const auto always = [] { return true; };
  const auto add = [&] { ++worked; };
  EXPECT_TRUE(lane.post({[&] {
                           busy.count_down();
                           go_on.wait();
                         },
                         always}));
  busy.wait();
  EXPECT_TRUE(lane.post({add, [&] { return wanted.load(); }}));
  EXPECT_TRUE(lane.post({add, always}));
  EXPECT_FALSE(lane.post({add, always}));
  wanted = false;
  EXPECT_TRUE(lane.post({[&] { done.count_down(); }, always}));
  go_on.count_down();
  done.wait();
  EXPECT_EQ(worked, 1);
}

TEST(HttpLane, StopForgetsWhatWaits) {
  std::latch busy(1), go_on(1);
  std::atomic<int> worked = 0;
  HttpLane lane({.threads = 1, .waiting = 1 << 30});
  const auto always = [] { return true; };
  lane.post({[&] {
               busy.count_down();
               go_on.wait();
             },
             always});
  busy.wait();
  lane.post({[&] { ++worked; }, always});
  std::thread stopping([&] { lane.stop(); });
  while (lane.post({[&] { ++worked; }, always})) std::this_thread::yield();
  go_on.count_down();
  stopping.join();
  EXPECT_EQ(worked, 0);
}

}  // namespace
}  // namespace attend
