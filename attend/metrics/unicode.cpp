#include "attend/metrics/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

// str.isspace(): Unicode's White_Space and the four ASCII separators.
bool is_space(UChar32 c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return u_isUWhiteSpace(c);
}

// Calls visit(code point, begin, end) for each character, with the places of its bytes.
template <typename Visit>
void for_each_character(std::string_view text, Visit visit) {
  for (size_t begin = 0; begin < text.size();) {
    const CodePoint c = first_code_point(text.substr(begin));
    visit(static_cast<UChar32>(c.value), begin, begin + c.bytes);
    begin += c.bytes;
  }
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t start = 0;
  for_each_character(text, [&](UChar32 c, size_t begin, size_t end) {
    if (!is_space(c)) return;
    if (begin > start) words.push_back(text.substr(start, begin - start));
    start = end;
  });
  if (start < text.size()) words.push_back(text.substr(start));
  return words;
}

std::string_view strip(std::string_view text) {
  size_t first = text.size(), last = 0;
  for_each_character(text, [&](UChar32 c, size_t begin, size_t end) {
    if (is_space(c)) return;
    first = std::min(first, begin);
    last = end;
  });
  return first < last ? text.substr(first, last - first) : std::string_view();
}

std::string_view strip_end(std::string_view text) {
  const std::string_view middle = strip(text);
  return middle.empty() ? middle : text.substr(0, middle.data() + middle.size() - text.data());
}

std::vector<uint32_t> code_points(std::string_view text, WhiteSpace white_space) {
  std::vector<uint32_t> points;
  points.reserve(text.size());
  for_each_character(text, [&](UChar32 c, size_t, size_t) {
    if (white_space == WhiteSpace::kKeep || !is_space(c)) points.push_back(c);
  });
  return points;
}

std::string full_lower_case(std::string_view text) {
  if (text.size() > size_t{std::numeric_limits<int32_t>::max()}) {
    throw DataError("full_lower_case: a line has {} bytes; the most is 2^31 - 1", text.size());
  }
  std::string lower;
  icu::StringByteSink<std::string> sink(&lower, static_cast<int32_t>(text.size()));
  UErrorCode status = U_ZERO_ERROR;
  const icu::StringPiece piece(text.data(), static_cast<int32_t>(text.size()));
  icu::CaseMap::utf8ToLower("", 0, piece, sink, nullptr, status);
  if (U_FAILURE(status)) throw DataError("full_lower_case: {}", u_errorName(status));
  return lower;
}

}  // namespace attend
