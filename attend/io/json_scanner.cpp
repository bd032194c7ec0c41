#include "attend/io/json_scanner.h"

#include <array>
#include <charconv>

#include "attend/base/utf8.h"

namespace attend {
namespace {

// Characters that stand for themselves within a string, a byte each.
constexpr std::array<bool, 256> plain_characters() {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = plain_characters();

bool is_plain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_high_surrogate(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
constexpr bool is_low_surrogate(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

}  // namespace

std::string_view JsonScanner::string() {
  take('"');
  const char* const begin = at_;
  while (at_ != end_) {
    if (is_plain(*at_)) {
      ++at_;
    } else if (*at_ == '"') {
      return {begin, static_cast<size_t>(at_++ - begin)};
    } else if (*at_ == '\\') {
      return unescaped(begin);
    } else {
      const CodePoint c = first_code_point({at_, static_cast<size_t>(end_ - at_)});
      if (!c.valid || c.bytes == 1) fail();  // no UTF-8, or a control character
      at_ += c.bytes;
    }
  }
  fail();
}

// Goes on with a string that began at `begin`, at its first escape.
std::string_view JsonScanner::unescaped(const char* begin) {
  buffer_.assign(begin, at_);
  while (at_ != end_) {
    if (is_plain(*at_)) {
      buffer_ += *at_++;
    } else if (*at_ == '"') {
      ++at_;
      return buffer_;
    } else if (*at_ == '\\') {
      ++at_;
      append_utf8(buffer_, escaped_character());
    } else {
      const CodePoint c = first_code_point({at_, static_cast<size_t>(end_ - at_)});
      if (!c.valid || c.bytes == 1) fail();
      buffer_.append(at_, c.bytes);
      at_ += c.bytes;
    }
  }
  fail();
}

// What follows a backslash.
char32_t JsonScanner::escaped_character() {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (at_ == end_) fail();
  if (const size_t letter = kLetters.find(*at_); letter != kLetters.npos) {
    ++at_;
    return static_cast<unsigned char>(kMeanings[letter]);
  }
  if (*at_ != 'u') fail();
  ++at_;
  const char32_t first = four_digits();
  if (is_low_surrogate(first)) fail();
  if (!is_high_surrogate(first)) return first;
  for (const char expected : {'\\', 'u'}) {
    if (at_ == end_ || *at_ != expected) fail();
    ++at_;
  }
  const char32_t second = four_digits();
  if (!is_low_surrogate(second)) fail();
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

char32_t JsonScanner::four_digits() {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == end_) fail();
    uint32_t digit = 0;
    if (std::from_chars(at_, at_ + 1, digit, 16).ec != std::errc()) fail();
    value = 16 * value + digit;
  }
  return value;
}

void JsonScanner::digits() {
  if (at_ == end_ || !is_digit(*at_)) fail();
  while (at_ != end_ && is_digit(*at_)) ++at_;
}

JsonScanner::Number JsonScanner::number() {
  const auto next_is = [this](char c) { return at_ != end_ && *at_ == c; };
  const bool negative = take_if('-');
  const char* const first = at_;
  if (next_is('0')) {
    ++at_;  // a digit behind it would be another value
  } else {
    digits();
  }
  Number number;
  bool whole = std::from_chars(first, at_, number.value).ec == std::errc();
  if (next_is('.')) {
    ++at_;
    digits();
    whole = false;
  }
  if (next_is('e') || next_is('E')) {
    ++at_;
    if (next_is('+') || next_is('-')) ++at_;
    digits();
    whole = false;
  }
  if (whole) number.kind = negative ? NumberKind::kNegative : NumberKind::kUnsigned;
  return number;
}

void JsonScanner::literal() {
  const char first = peek();
  for (const std::string_view word : {"true", "false", "null"}) {
    if (first != word[0]) continue;
    for (const char expected : word) {
      if (at_ == end_ || *at_ != expected) fail();
      ++at_;
    }
    return;
  }
  fail();
}

void JsonScanner::end() {
  skip_space();
  if (at_ != end_) fail();
}

}  // namespace attend
