#include "attend/base/utf8.h"

#include <gtest/gtest.h>

#include "attend/base/hash.h"

namespace attend {
namespace {

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(text, c);
    const CodePoint read = first_code_point(text + "x");
    ASSERT_TRUE(read.valid);
    ASSERT_EQ(read.value, c);
    ASSERT_EQ(read.bytes, text.size());
    ASSERT_TRUE(valid_utf8(text));
    for (size_t cut = 1; cut < text.size(); ++cut) ASSERT_FALSE(valid_utf8(text.substr(0, cut)));
  }
}

// The table of Unicode's chapter 3.9 (maximal subparts), and forms that were never characters.
TEST(Utf8, RepairsAsUnicodeRecommends) {
  const struct {
    const char *bad, *good;
    size_t replaced;
  } cases[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA",
       8},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA",
       8},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA\uFFFD\uFFFDB", 7},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "\uFFFD\uFFFD\uFFFD\uFFFDA", 4},
      {"plain \u00E9", "plain \u00E9", 0},
      {"\uFFFD is a character", "\uFFFD is a character", 0},
  };
  for (const auto& c : cases) {
    size_t replaced = 0;
    EXPECT_EQ(repair_utf8(c.bad, replaced), c.good);
    EXPECT_EQ(replaced, c.replaced) << c.good;
    EXPECT_EQ(valid_utf8(c.bad), c.replaced == 0);
  }
}

TEST(Utf8, FindsABadByteAtAnyPlace) {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t place = 0; place < size; ++place) {
      std::string text(size, 'a');
      ASSERT_TRUE(valid_utf8(text));
      text[place] = '\xFF';
      ASSERT_FALSE(valid_utf8(text));
    }
  }
}

TEST(Hash, PortionsDoNotMatterAndEveryByteDoes) {
  std::string text = "a text of some length, more than two words of eight bytes";
  const uint64_t whole = hash_of(text);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Hash hash;
    hash.add(text.substr(0, cut));
    hash.add(text.substr(cut));
    EXPECT_EQ(hash.value(), whole);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] ^= 1;
    EXPECT_NE(hash_of(other), whole);
    EXPECT_NE(hash_of(text.substr(0, i)), whole);
  }
  EXPECT_NE(hash_of(""), hash_of(std::string(1, '\0')));
}

}  // namespace
}  // namespace attend
