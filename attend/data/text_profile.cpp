#include "attend/data/text_profile.h"

#include <algorithm>
#include <functional>

namespace attend {
namespace {

constexpr std::string_view kBlanks = " \t\v\f\r\n";

// The character that starts at `place`, which goes to the next one. The text is valid UTF-8.
char32_t next_character(std::string_view text, size_t& place) {
  const auto first = static_cast<unsigned char>(text[place++]);
  if (first < 0x80) return first;
  const size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t character = first & (0x3F >> more);
  for (size_t i = 0; i < more && place < text.size(); ++i) {
    character = character << 6 | (static_cast<unsigned char>(text[place++]) & 0x3F);
  }
  return character;
}

template <typename Function>
void for_each_word(std::string_view text, Function&& function) {
  for (size_t begin = 0; (begin = text.find_first_not_of(kBlanks, begin)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    function(text.substr(begin, end - begin));
    begin = end;
  }
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double TextProfile::mean_characters(size_t column) const {
  return share(static_cast<double>(columns[column].characters), static_cast<double>(seen));
}

double TextProfile::mean_words(size_t column) const {
  return share(static_cast<double>(columns[column].words), static_cast<double>(seen));
}

double TextProfile::all(uint64_t count) const {
  return static_cast<double>(count) *
         share(static_cast<double>(records), static_cast<double>(seen));
}

TextProfiler::TextProfiler(std::vector<std::string> columns, uint64_t limit) : limit_(limit) {
  for (std::string& name : columns) columns_.push_back({.profile = {.name = std::move(name)}});
}

void TextProfiler::add(const std::vector<std::string_view>& texts) {
  ++profile_.records;
  if (full()) return;
  ++profile_.seen;
  for (size_t i = 0; i < columns_.size(); ++i) {
    bytes_ += texts[i].size() + 1;
    add(columns_[i], texts[i]);
  }
  profile_.blank += texts.front().find_first_not_of(kBlanks) == std::string_view::npos ? 1 : 0;
}

void TextProfiler::add(Column& column, std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  size_t length = 0;
  for (size_t place = 0; place < text.size(); ++length) {
    ++column.characters[next_character(text, place)];
  }
  column.profile.characters += length;
  ++column.lengths[length];
  const std::hash<std::string_view> hash;
  column.lines.insert(hash(text));
  for_each_word(text, [&](std::string_view word) {
    ++column.profile.words;
    column.words.emplace(hash(word), profile_.seen);
  });
}

TextProfile TextProfiler::profile() const {
  TextProfile made = profile_;
  for (const Column& column : columns_) {
    ColumnProfile& found = made.columns.emplace_back(column.profile);
    found.distinct_characters = column.characters.size();
    found.distinct_words = column.words.size();
    found.distinct_lines = column.lines.size();
    found.new_words = static_cast<uint64_t>(std::ranges::count_if(
        column.words, [&](const auto& word) { return word.second > profile_.seen / 2 + 1; }));
    uint64_t longer = profile_.seen / 100;  // lines that may be
    for (auto length = column.lengths.rbegin(); length != column.lengths.rend(); ++length) {
      found.long_line = length->first;
      if (length->second > longer) break;
      longer -= length->second;
    }
  }
  if (columns_.size() > 1) compare(made);
  return made;
}

void TextProfiler::compare(TextProfile& profile) const {
  const Column &first = columns_[0], &second = columns_[1];
  double same = 0, all = 0;
  for (const auto& [character, count] : second.characters) {
    const auto times = static_cast<double>(count);
    all += times;
    same += first.characters.contains(character) ? times : 0;
  }
  profile.shared_characters = share(same, all);
  const auto shared = std::ranges::count_if(
      second.words, [&](const auto& word) { return first.words.contains(word.first); });
  profile.shared_words =
      share(static_cast<double>(shared), static_cast<double>(second.words.size()));
}

}  // namespace attend
