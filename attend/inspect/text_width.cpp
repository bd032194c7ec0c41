#include "attend/inspect/text_width.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <algorithm>
#include <memory>
#include <ranges>

#include "attend/base/error.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr char32_t kEmojiStyle = 0xFE0F, kSoftHyphen = 0xAD, kDottedCircle = 0x25CC;

// As the C library's wcwidth, which most terminals follow.
size_t width(UChar32 c) {
  if (c >= 0x20 && c < 0x7F) return 1;
  const int type = u_charType(c);
  const bool no_room = type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK ||
                       (type == U_FORMAT_CHAR && c != static_cast<UChar32>(kSoftHyphen));
  if (no_room) return 0;
  const int syllable = u_getIntPropertyValue(c, UCHAR_HANGUL_SYLLABLE_TYPE);
  if (syllable == U_HST_VOWEL_JAMO || syllable == U_HST_TRAILING_JAMO) return 0;
  const int east_asian = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return east_asian == U_EA_WIDE || east_asian == U_EA_FULLWIDTH ? 2 : 1;
}

template <typename Visit>
void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    visit(static_cast<UChar32>(c.value));
    text.remove_prefix(c.bytes);
  }
}

// A sequence of emoji (a family, a flag) is one picture two columns wide; letters that are joined
// take the room of all of them.
size_t cluster_width(std::string_view text) {
  size_t columns = 0;
  bool picture = false, styled = false;
  for_each_character(text, [&](UChar32 c) {
    columns += width(c);
    styled |= c == static_cast<UChar32>(kEmojiStyle);
    picture |= u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC) != 0 ||
               u_hasBinaryProperty(c, UCHAR_REGIONAL_INDICATOR) != 0;
  });
  if (styled) return 2;
  return picture ? std::min<size_t>(columns, 2) : columns;
}

struct Close {
  void operator()(UBreakIterator* x) const { ubrk_close(x); }
  void operator()(UText* x) const { utext_close(x); }
};

UBreakIterator* cluster_breaks() {
  static thread_local const std::unique_ptr<UBreakIterator, Close> breaks = [] {
    UErrorCode status = U_ZERO_ERROR;
    UBreakIterator* opened = ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &status);
    if (U_FAILURE(status)) throw IoError("text_width: ICU: {}", u_errorName(status));
    return std::unique_ptr<UBreakIterator, Close>(opened);
  }();
  return breaks.get();
}

bool plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// What stands for a character that a line cannot have.
char32_t shown(char32_t c) {
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  if (c == 0x2028 || c == 0x2029) return 0x2424;
  const bool disturbs = (c >= 0x80 && c < 0xA0) || U_IS_UNICODE_NONCHAR(c) ||
                        u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_BIDI_CONTROL);
  return disturbs ? kReplacementCharacter : c;
}

bool right_to_left(UChar32 c) {
  const int direction = u_charDirection(c);
  return direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC ||
         direction == U_ARABIC_NUMBER;
}

}  // namespace

std::vector<Cluster> clusters_of(std::string_view text) {
  std::vector<Cluster> clusters;
  if (plain(text)) {
    for (size_t i = 0; i < text.size(); ++i) clusters.push_back({text.substr(i, 1), 1});
    return clusters;
  }
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UText, Close> source(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status));
  UBreakIterator* breaks = cluster_breaks();
  ubrk_setUText(breaks, source.get(), &status);
  if (U_FAILURE(status)) throw DataError("text_width: ICU: {}", u_errorName(status));
  for (int32_t begin = ubrk_first(breaks), end; (end = ubrk_next(breaks)) != UBRK_DONE;
       begin = end) {
    const std::string_view cluster = text.substr(begin, end - begin);
    clusters.push_back({cluster, cluster_width(cluster)});
  }
  return clusters;
}

size_t columns_of(std::string_view text) {
  if (plain(text)) return text.size();
  size_t columns = 0;
  for (const Cluster& cluster : clusters_of(text)) columns += cluster.columns;
  return columns;
}

std::string cut_to(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  size_t used = 0;
  std::string start;
  for (const Cluster& cluster : clusters_of(text)) {
    used += cluster.columns;
    if (used >= columns) break;  // one is kept for the ellipsis
    start += cluster.text;
  }
  return start.append(kEllipsis);
}

std::string cut_front_to(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  size_t used = 0, begin = text.size();
  const std::vector<Cluster> clusters = clusters_of(text);
  for (const Cluster& cluster : std::views::reverse(clusters)) {
    used += cluster.columns;
    if (used >= columns) break;  // one is kept for the ellipsis
    begin -= cluster.text.size();
  }
  return std::string(kEllipsis).append(text.substr(begin));
}

std::vector<std::string> wrapped(std::span<const std::string> words, size_t columns,
                                 size_t indent) {
  std::vector<std::string> lines;
  size_t used = 0;
  for (const std::string& word : words) {
    const size_t width = columns_of(word);
    if (!lines.empty() && used + 1 + width <= columns) {
      lines.back() += ' ' + word;
      used += 1 + width;
      continue;
    }
    const size_t begin = lines.empty() ? 0 : indent;
    lines.push_back(std::string(begin, ' ') + word);
    used = begin + width;
  }
  return lines;
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> words;
  for (const auto word : std::views::split(text, ' ')) words.emplace_back(word.begin(), word.end());
  return wrapped(words, columns);
}

std::string visible(std::string_view text) {
  std::string line;
  const auto on_its_own = [](UChar32 c) {
    return (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;  // a mark
  };
  for_each_character(text, [&](UChar32 c) {
    if (line.empty() && on_its_own(c)) append_utf8(line, kDottedCircle);
    append_utf8(line, shown(static_cast<char32_t>(c)));
  });
  return line;
}

std::string isolated(std::string_view text) {
  bool turns = false;
  for_each_character(text, [&](UChar32 c) { turns |= right_to_left(c); });
  return turns ? "\u2068" + std::string(text) + "\u2069" : std::string(text);
}

}  // namespace attend
