#include "attend/text/basic_words.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>

#include <string>

namespace attend {
namespace {

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

// Of ASCII, everything that is neither letter, digit, space nor control character.
bool is_punctuation(char32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7F && u_isalnum(static_cast<UChar32>(c)) == 0;
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_P_MASK) != 0;
}

// Not the unassigned: what they are depends on the version of Unicode.
bool is_control(char32_t c) {
  const uint32_t kind = U_GET_GC_MASK(static_cast<UChar32>(c));
  return (kind & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
}

bool is_space(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' ||
         (!is_control(c) && u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_WHITE_SPACE) != 0);
}

bool is_mark(char32_t c) { return u_charType(static_cast<UChar32>(c)) == U_NON_SPACING_MARK; }

const UNormalizer2* decomposition() {
  static const UNormalizer2* const form = [] {
    UErrorCode error = U_ZERO_ERROR;
    return unorm2_getNFDInstance(&error);
  }();
  return form;
}

}  // namespace

BasicCharacter basic_character(char32_t c, bool lowercase) {
  BasicCharacter found;
  if (is_space(c)) {
    found.parts[0].use = BasicUse::kSpace;
    return found;
  }
  if (c == kReplacementCharacter || is_control(c)) return found;
  const bool chinese = is_chinese(c);
  size_t count = 0;
  const auto put = [&](char32_t part) {
    if (count == found.parts.size()) return;
    found.parts[count++] = {part,
                            chinese || is_punctuation(part) ? BasicUse::kAlone : BasicUse::kInWord};
  };
  if (!lowercase) {
    put(c);
    return found;
  }
  UChar units[32];
  UErrorCode error = U_ZERO_ERROR;
  const int32_t length = unorm2_getDecomposition(decomposition(), static_cast<UChar32>(c), units,
                                                 std::size(units), &error);
  UChar32 part = static_cast<UChar32>(c);
  for (int32_t i = 0; i < std::max(length, 1);) {
    if (length > 0) U16_NEXT(units, i, length, part);
    if (length <= 0) ++i;
    if (!is_mark(static_cast<char32_t>(part))) put(static_cast<char32_t>(u_tolower(part)));
  }
  return found;
}

const BasicWords::AsciiTable& BasicWords::ascii_table(bool lowercase) {
  const auto make = [](bool lower) {
    AsciiTable table = {};
    for (char32_t c = 0; c < 0x80; ++c) {
      const BasicCharacter::Part part = basic_character(c, lower).parts[0];
      table[c] = {part.use, static_cast<char>(part.character)};
    }
    return table;
  };
  static const AsciiTable kept = make(false), lowered = make(true);
  return lowercase ? lowered : kept;
}

void BasicWords::put_character(char32_t c) {
  if (++characters_ > kLongest) return;
  std::string text;
  append_utf8(text, c);
  for (const char byte : text) bytes_[size_++] = byte;
}

}  // namespace attend
