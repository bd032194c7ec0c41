#include "attend/data/words.h"

#include <algorithm>

namespace attend {
namespace {

constexpr std::string_view kBetweenWords = " \t\n\v\f\r";

}  // namespace

std::string words_column(std::string_view column) { return std::string(column) + ".words"; }

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t begin = line.find_first_not_of(kBetweenWords); begin != line.npos;) {
    const size_t end = std::min(line.find_first_of(kBetweenWords, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBetweenWords, end);
  }
  return words;
}

WordTokens encode_words(const std::function<std::vector<int32_t>(std::string_view)>& encode,
                        std::span<const std::string_view> words, int32_t unknown) {
  WordTokens tokens;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string text = (i > 0 ? " " : "") + std::string(words[i]);
    const std::vector<int32_t> ids = encode(text);
    tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
    if (ids.empty()) tokens.ids.push_back(unknown);
    tokens.last.push_back(static_cast<int32_t>(tokens.ids.size()) - 1);
  }
  return tokens;
}

}  // namespace attend
