#include "attend/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace attend {
namespace {

// Where the first byte that is not ASCII lies, or text.size(); eight bytes at a time.
size_t ascii_prefix(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  if (first < 0xC2 || first > 0xF4) return {};
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // The second byte alone tells overlong forms, surrogates and what is past the end.
  unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  char32_t value = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) {
      return {kReplacementCharacter, i, false};
    }
    value = (value << 6) | (byte(i) & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return {value, length, true};
}

bool valid_utf8(std::string_view text) {
  while (true) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    const CodePoint c = first_code_point(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
}

size_t count_code_points(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    const size_t ascii = ascii_prefix(text);
    count += ascii;
    text.remove_prefix(ascii);
    if (text.empty()) break;
    text.remove_prefix(first_code_point(text).bytes);
    ++count;
  }
  return count;
}

void append_utf8(std::string& text, char32_t c) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | (c >> 6));
  } else {
    if (c < 0x10000) {
      put(0xE0 | (c >> 12));
    } else {
      put(0xF0 | (c >> 18));
      put(0x80 | ((c >> 12) & 0x3F));
    }
    put(0x80 | ((c >> 6) & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

std::string repair_utf8(std::string_view text, size_t& replaced) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.valid) {
      out += text.substr(0, c.bytes);
    } else {
      append_utf8(out, kReplacementCharacter);
      ++replaced;
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace attend
