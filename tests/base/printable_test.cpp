#include "attend/base/printable.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(Printable, TextOfPeopleStays) {
  for (const char* text :
       {"", "a b", "C:\\x", "Straße", "猫", "🐈", "ne\u0301e", "a\tb", "می\u200Cخواهم"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatActsOnATerminalIsEscaped) {
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable(std::string_view("a\0b\n\r\x7f", 6)), "a\\x00b\\x0a\\x0d\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m");
  EXPECT_EQ(printable("\u202eabc\u2066"), "\\u202eabc\\u2066");
  EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
}

TEST(Printable, BytesThatAreNoCharactersAreEscaped) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xe2\x82 x"), "\\xe2\\x82 x");
}

TEST(Printable, NamesAreCutBetweenCharacters) {
  const std::string sixty(60, 'a');
  EXPECT_EQ(shown_name(sixty), sixty);
  EXPECT_EQ(shown_name(sixty + "b"), sixty + "...");
  std::string wide;
  for (int i = 0; i < 61; ++i) wide += "ß";
  EXPECT_EQ(shown_name(wide), wide.substr(0, 120) + "...");
  EXPECT_EQ(shown_name(std::string(5'000'000, '\n')).size(), 60 * 4 + 3u);
}

}  // namespace
}  // namespace attend
