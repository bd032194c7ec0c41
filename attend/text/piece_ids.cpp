#include "attend/text/piece_ids.h"

#include <algorithm>
#include <charconv>

#include "attend/base/error.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr size_t kLongestText = 4096;

bool is_surrogate(char32_t c, char32_t first) { return c >= first && c < first + 0x400; }

}  // namespace

PieceIds::PieceIds(std::string_view json, const std::string& name) : json_(json), name_(name) {
  expect('{', "is no JSON object of pieces and their ids");
}

std::optional<std::pair<std::string, uint32_t>> PieceIds::next() {
  if (skip_space() == '}') {
    ++at_;
    if (skip_space() != '\0' || at_ < json_.size()) fail("more follows the object");
    return std::nullopt;
  }
  if (!std::exchange(first_, false)) expect(',', "has no comma between two pieces");
  skip_space();
  std::string piece = text();
  expect(':', "has no colon after a piece");
  skip_space();
  return std::pair(std::move(piece), number());
}

void PieceIds::fail(std::string_view what) const {
  const auto line = std::ranges::count(json_.substr(0, at_), '\n') + 1;
  throw FormatError("{}:{}: {}; copy the file again", name_, line, what);
}

char PieceIds::skip_space() {
  at_ = std::min(json_.find_first_not_of(" \t\r\n", at_), json_.size());
  return at_ < json_.size() ? json_[at_] : '\0';
}

void PieceIds::expect(char c, std::string_view what) {
  if (skip_space() != c) fail(at_ == json_.size() ? "the file is cut off" : what);
  ++at_;
}

std::string PieceIds::text() {
  expect('"', "has no piece in quotes");
  std::string out;
  while (true) {
    if (at_ >= json_.size()) fail("the file is cut off");
    if (out.size() > kLongestText) fail("a piece is over 4096 bytes");
    const char c = json_[at_];
    if (c == '"') break;
    if (static_cast<unsigned char>(c) < 0x20) fail("a piece has a control character");
    if (c != '\\') {
      const CodePoint point = first_code_point(json_.substr(at_));
      if (!point.valid) fail("a piece is not UTF-8");
      out += json_.substr(at_, point.bytes);
      at_ += point.bytes;
      continue;
    }
    if (at_ + 1 >= json_.size()) fail("the file is cut off");
    const char escape = json_[at_ + 1];
    at_ += 2;
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (escape == 'u') {
      append_utf8(out, unicode_escape());
    } else if (const size_t found = kNames.find(escape); found != kNames.npos) {
      out += kMeant[found];
    } else {
      fail("a piece has an unknown escape");
    }
  }
  ++at_;
  return out;
}

// After "\u"; a character past U+FFFF has two.
char32_t PieceIds::unicode_escape() {
  const auto unit = [this] {
    uint32_t value = 0;
    const char* const begin = json_.data() + at_;
    if (json_.size() - at_ < 4 || std::from_chars(begin, begin + 4, value, 16).ptr != begin + 4) {
      fail("a piece has half an escape");
    }
    at_ += 4;
    return char32_t{value};
  };
  const char32_t high = unit();
  if (is_surrogate(high, 0xDC00)) fail("a piece has half a character");
  if (!is_surrogate(high, 0xD800)) return high;
  if (json_.substr(at_, 2) != "\\u") fail("a piece has half a character");
  at_ += 2;
  const char32_t low = unit();
  if (!is_surrogate(low, 0xDC00)) fail("a piece has half a character");
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

uint32_t PieceIds::number() {
  uint32_t value = 0;
  const char* const begin = json_.data() + at_;
  const auto parsed = std::from_chars(begin, json_.data() + json_.size(), value);
  if (parsed.ec != std::errc()) fail("an id is no whole number");
  at_ = static_cast<size_t>(parsed.ptr - json_.data());
  return value;
}

}  // namespace attend
