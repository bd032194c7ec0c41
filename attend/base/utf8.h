// UTF-8, strictly as Unicode defines it: no overlong forms, no surrogates, nothing past U+10FFFF.
// Not for use outside Attend.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attend {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";  // the same as UTF-8

struct CodePoint {
  char32_t value = kReplacementCharacter;  // what stands for bytes that are no character
  size_t bytes = 1;                        // of the text: at least 1
  bool valid = false;
};

// The first character of a text that is not empty. Bytes that are none are taken as Unicode
// recommends (the longest start of a character counts as one), so that all readers agree.
CodePoint first_code_point(std::string_view text);

bool valid_utf8(std::string_view text);
size_t count_code_points(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);

// The same text with U+FFFD in place of what is no character; `replaced` counts those.
std::string repair_utf8(std::string_view text, size_t& replaced);

}  // namespace attend
