#include "attend/text/lower_case.h"

#include <gtest/gtest.h>
#include <unicode/uchar.h>

#include "attend/base/printable.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

TEST(LowerCase, KeepsTheNumberOfCharacters) {
  EXPECT_EQ(lower_case("ÄÖÜ ÉCOLE Σ Ж ß ı\xFF 猫A"), "äöü école σ ж ß ı\xFF 猫a");
}

// base/printable.cpp has a table of its own, since attend::core does without ICU.
TEST(Printable, KnowsTheMarksOfDirectionThatUnicodeHas) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    const auto unicode = static_cast<UChar32>(c);
    if (c == '\\' || c == '\t' || U_IS_SURROGATE(unicode)) continue;
    const bool acts = u_charType(unicode) == U_CONTROL_CHAR || c == 0x2028 || c == 0x2029 ||
                      u_hasBinaryProperty(unicode, UCHAR_BIDI_CONTROL) != 0;
    std::string text;
    append_utf8(text, c);
    ASSERT_EQ(printable(text).front() == '\\', acts) << std::hex << static_cast<uint32_t>(c);
  }
}

}  // namespace
}  // namespace attend
