// Trains WordPiece and byte-level BPE.
#include <algorithm>
#include <map>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/text/basic_words.h"
#include "attend/text/byte_bpe.h"
#include "attend/text/byte_words.h"
#include "attend/text/lower_case.h"
#include "attend/text/pair_learning.h"
#include "attend/text/vocabulary.h"
#include "attend/text/wordpiece.h"

namespace attend {
namespace {

constexpr size_t kLongestLearned = 256;  // bytes of a word; merges within others take too long

using CountedTexts = std::vector<std::pair<std::string, uint64_t>>;

// The words of all lines, as each(line, count) finds them.
template <typename Each>
CountedTexts words_of(const LineSource& lines, const Each& each) {
  WordCounts counts;
  while (const std::optional<std::string_view> line = lines()) {
    each(*line, [&](std::string_view word) { counts.add(word); });
  }
  CountedTexts words = std::move(counts).sorted();
  if (words.empty()) throw DataError("tokenizer: there is no text to take a vocabulary from");
  return words;
}

void check_size(const TokenizerConfig& config, size_t least, std::string_view why) {
  if (config.vocabulary >= least) return;
  throw ConfigError(
      "tokenizer: {} with a vocabulary of {}: {}; set the vocabulary to {} or more (attend train: "
      "--vocabulary.vocabulary)",
      name_of(config.kind), config.vocabulary, why, least);
}

// The characters of the words that make up as much of the text as is asked for.
std::vector<std::string> alphabet_of(const CountedTexts& words, const TokenizerConfig& config) {
  std::map<std::string, uint64_t, std::less<>> counts;
  uint64_t all = 0;
  for (const auto& [word, count] : words) {
    for (std::string_view rest = word; !rest.empty();) {
      const std::string_view character = rest.substr(0, first_code_point(rest).bytes);
      const auto found = counts.find(character);
      (found == counts.end() ? counts.emplace(character, 0).first : found)->second += count;
      all += count;
      rest.remove_prefix(character.size());
    }
  }
  std::vector<std::pair<uint64_t, std::string>> sorted;
  for (const auto& [character, count] : counts) {
    if (count >= config.minimum_count) sorted.emplace_back(count, character);
  }
  std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& entry) { return entry.first; });
  std::vector<std::string> alphabet;
  uint64_t covered = 0;
  for (const auto& [count, character] : sorted) {
    if (static_cast<double>(covered) >= config.character_coverage * static_cast<double>(all)) break;
    alphabet.push_back(character);
    covered += count;
  }
  std::ranges::sort(alphabet);
  return alphabet;
}

// Whether a character is a word by itself wherever it occurs.
bool is_alone(std::string_view character, bool lowercase) {
  const auto parts = basic_character(first_code_point(character).value, lowercase).parts;
  return parts[0].use == BasicUse::kAlone;
}

}  // namespace

std::shared_ptr<const Tokenizer> train_wordpiece(const TokenizerConfig& config,
                                                 const LineSource& lines) {
  if (!(config.character_coverage > 0.9 && config.character_coverage <= 1)) {
    throw ConfigError("tokenizer: character_coverage is {}; it must be above 0.9 and at most 1",
                      config.character_coverage);
  }
  const size_t special = kSpecialTokens + (config.mask ? 1 : 0);
  check_size(config, special + 1, "nothing but special tokens fits in");
  BasicWords basic(config.lowercase);
  const CountedTexts words = words_of(lines, [&](std::string_view line, const auto& count) {
    basic.each(line, [&](std::string_view word, bool too_long) {
      if (!too_long) count(word);
    });
  });
  std::vector<std::string> pieces;
  std::unordered_map<std::string, int32_t> numbers;
  const std::vector<std::string> alphabet = alphabet_of(words, config);
  const auto add = [&](std::string piece) {
    numbers.emplace(piece, static_cast<int32_t>(pieces.size()));
    pieces.push_back(std::move(piece));
  };
  for (const std::string& character : alphabet) add(character);
  for (const std::string& character : alphabet) {
    if (!is_alone(character, config.lowercase)) add("##" + character);
  }
  check_size(config, special + pieces.size(),
             fmt::format("the text alone has {} characters, inside of words and at their "
                         "beginning, and special tokens",
                         special + pieces.size()));
  std::vector<CountedWord> split;
  for (const auto& [word, count] : words) {
    CountedWord counted{.count = count};
    for (std::string_view rest = word; !rest.empty();) {
      const size_t bytes = first_code_point(rest).bytes;
      const std::string character(rest.substr(0, bytes));
      const auto found = numbers.find(rest.size() == word.size() ? character : "##" + character);
      if (found == numbers.end()) break;  // [UNK], as the whole word is
      counted.pieces.push_back(found->second);
      rest.remove_prefix(bytes);
      if (rest.empty()) split.push_back(std::move(counted));
    }
  }
  learn_pairs(std::move(split), pieces,
              {.most_pieces = config.vocabulary - special,
               .least_count = std::max<uint64_t>(2, config.minimum_count),
               .continues = "##"});
  pieces.insert(pieces.begin(), std::begin(kWordpieceSpecial),
                std::begin(kWordpieceSpecial) + static_cast<std::ptrdiff_t>(special));
  return make_wordpiece(config.lowercase, std::move(pieces));
}

std::shared_ptr<const Tokenizer> train_byte_bpe(const TokenizerConfig& config,
                                                const LineSource& lines) {
  const VocabularyTraits traits{config.lowercase, config.mask,
                                static_cast<int32_t>(config.sentinels)};
  const auto special = static_cast<size_t>(traits.first_piece());
  check_size(config, special + 256, "the bytes and the special tokens alone do not fit in");
  const CountedTexts words = words_of(lines, [&](std::string_view line, const auto& count) {
    const std::string lower = config.lowercase ? lower_case(line) : "";
    ByteWords(config.lowercase ? lower : line).each([&](std::string_view word) {
      if (word.size() <= kLongestLearned) count(word);
    });
  });
  std::vector<std::string> pieces;
  for (int byte = 0; byte < 256; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
  std::vector<CountedWord> split;
  split.reserve(words.size());
  for (const auto& [word, count] : words) {
    CountedWord counted{.count = count};
    for (const char c : word) counted.pieces.push_back(static_cast<unsigned char>(c));
    split.push_back(std::move(counted));
  }
  ByteBpeVocabulary vocabulary{.lowercase = config.lowercase, .special = traits.special()};
  vocabulary.merges = learn_pairs(std::move(split), pieces,
                                  {.most_pieces = config.vocabulary - special,
                                   .least_count = std::max<uint64_t>(2, config.minimum_count)});
  const auto first = static_cast<int32_t>(special);
  for (PairMerge& merge : vocabulary.merges) {
    merge = {merge.left + first, merge.right + first, merge.made + first};
  }
  std::vector<std::string> specials;
  for (int32_t id = 0; id < first; ++id) {
    specials.push_back(traits.special_piece(id));
    if (vocabulary.special.is_sentinel(id)) vocabulary.others.push_back(id);
  }
  pieces.insert(pieces.begin(), specials.begin(), specials.end());
  vocabulary.pieces = std::move(pieces);
  return make_byte_bpe(std::move(vocabulary));
}

}  // namespace attend
