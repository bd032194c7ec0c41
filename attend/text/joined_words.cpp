#include "attend/text/joined_words.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr std::string_view kContinuing = "##";

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The endings of don't, it's, we're, I've, I'm, we'll, he'd.
bool is_contraction(std::string_view text) {
  constexpr std::array<std::string_view, 7> kEndings = {"t", "s", "re", "ve", "m", "ll", "d"};
  return std::ranges::find(kEndings, text) != kEndings.end();
}

// Scripts without spaces between words.
bool is_unspaced(std::string_view piece) {
  const char32_t c = first_code_point(piece).value;
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

bool closes(std::string_view piece) {
  constexpr std::string_view kAscii = ".,;:!?)]}%";
  if (piece.size() == 1) return kAscii.find(piece[0]) != kAscii.npos;
  const CodePoint c = first_code_point(piece);
  if (c.bytes != piece.size()) return false;
  const int8_t kind = u_charType(static_cast<UChar32>(c.value));
  const bool wide = (c.value >= 0x3001 && c.value <= 0x3003) ||
                    (c.value >= 0xFF01 && c.value <= 0xFF1F && kind == U_OTHER_PUNCTUATION);
  return kind == U_END_PUNCTUATION || kind == U_FINAL_PUNCTUATION || c.value == 0x2026 || wide;
}

bool opens(std::string_view piece) {
  constexpr std::string_view kAscii = "([{$#";
  if (piece.size() == 1) return kAscii.find(piece[0]) != kAscii.npos;
  const CodePoint c = first_code_point(piece);
  if (c.bytes != piece.size()) return false;
  const int8_t kind = u_charType(static_cast<UChar32>(c.value));
  return kind == U_START_PUNCTUATION || kind == U_INITIAL_PUNCTUATION || c.value == 0xBF ||
         c.value == 0xA1 || (c.value >= 0x3001 && c.value <= 0x3003);
}

// Joins the words on both of its sides.
bool links(std::string_view piece) {
  return piece == "-" || piece == "/" || piece == "_" || piece == "@" || piece == "\u2010" ||
         piece == "\u2011";
}

bool has_space(std::string_view before, std::string_view piece) {
  if (closes(piece) || links(piece) || piece == "'" || piece == "\u2019") return false;
  if (opens(before) || links(before)) return false;
  if (before == "'" || before == "\u2019") return !is_contraction(piece);
  if (before == "." && is_digits(piece)) return false;
  if (before == "," && is_digits(piece) && piece.size() == 3) return false;
  if (before == ":" && is_digits(piece) && piece.size() == 2) return false;
  return !(is_unspaced(before) && is_unspaced(piece)) &&
         !(closes(before) && before.size() > 1 && is_unspaced(piece));
}

}  // namespace

void join_piece(std::string& text, std::string_view before, std::string_view piece) {
  const bool continues = piece.starts_with(kContinuing) && piece.size() > kContinuing.size();
  if (continues) {
    text += piece.substr(kContinuing.size());
    return;
  }
  if (before.starts_with(kContinuing) && before.size() > kContinuing.size()) {
    before.remove_prefix(kContinuing.size());
  }
  if (!before.empty() && has_space(before, piece)) text += ' ';
  text += piece;
}

}  // namespace attend
