#include "attend/base/escapes.h"

#include <gtest/gtest.h>

#include "tests/errors.h"

namespace attend {
namespace {

TEST(Escapes, StandForWhatIsHardToType) {
  EXPECT_EQ(unescaped(""), "");
  EXPECT_EQ(unescaped("plain é"), "plain é");
  EXPECT_EQ(unescaped("a\\nb\\r\\t\\\\n"), "a\nb\r\t\\n");
  EXPECT_EQ(unescaped("\\x00\\x7f\\xE2\\x82\\xAC"), std::string("\0\x7f€", 5));
}

TEST(Escapes, RefuseABackslashBeforeAnythingElse) {
  for (const char* text : {"\\", "a\\", "\\q", "\\N", "\\x", "\\x1", "\\xg0", "\\x 1", "\\x-1"}) {
    EXPECT_THROW(unescaped(text), ConfigError) << text;
  }
}

}  // namespace
}  // namespace attend
