#include "attend/decode/stop_text.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

// A text in pieces of `size` bytes: what is given until it stops.
std::string through(std::span<const std::string> stops, std::string_view text, size_t size) {
  StopText stop(stops);
  std::string given;
  while (!text.empty() && !stop.found()) {
    given += stop.add(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  return given + stop.finish();
}

TEST(StopText, EndsBeforeTheStringInWhateverPiecesItComes) {
  const std::vector<std::string> stops = {"\n\n", "aab"};
  for (size_t size = 1; size < 9; ++size) {
    EXPECT_EQ(through(stops, "one\ntwo\n\nthree", size), "one\ntwo") << size;
    EXPECT_EQ(through(stops, "caaab", size), "ca") << size;
    EXPECT_EQ(through(stops, "aaaa\n", size), "aaaa\n") << size;
    EXPECT_EQ(through({}, "aab", size), "aab") << size;
  }
}

TEST(StopText, HoldsBackNoMoreThanMayBeTheString) {
  const std::vector<std::string> stops = {"END", "\n"};
  StopText stop(stops);
  EXPECT_EQ(stop.add("the E"), "the ");
  EXPECT_EQ(stop.add("N"), "");
  EXPECT_EQ(stop.add("E"), "EN");
  EXPECT_EQ(stop.add("xEN"), "Ex");
  EXPECT_FALSE(stop.found());
  StopText other = stop;  // goes its own way
  EXPECT_EQ(stop.add("D."), "");
  EXPECT_TRUE(stop.found());
  EXPECT_EQ(stop.add("more"), "");
  EXPECT_EQ(stop.finish(), "");
  EXPECT_FALSE(other.found());
  EXPECT_EQ(other.finish(), "EN");
}

}  // namespace
}  // namespace attend
