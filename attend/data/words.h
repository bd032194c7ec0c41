// The words of a line, which stand between white space, and the tokens that they become. Taggers
// give a label to each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// The name of the column that has the number of the last token of each word of `column`.
std::string words_column(std::string_view column);

std::vector<std::string_view> words_of(std::string_view line);  // refer to the line

// Words one after another, as tokens.
struct WordTokens {
  std::vector<int32_t> ids;
  std::vector<int32_t> last;  // of each word, its last token among the ids
};
// Each word is encoded by itself, with a space before it but for the first; a word without tokens
// becomes `unknown`.
WordTokens encode_words(const std::function<std::vector<int32_t>(std::string_view)>& encode,
                        std::span<const std::string_view> words, int32_t unknown);

}  // namespace attend
