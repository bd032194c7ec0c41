#include "attend/train/masking.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend {
namespace {

// Random numbers that a choice reads: each place of a text has so many.
constexpr uint64_t kNumbers = 3;

// The places of each unit that is chosen as a whole: a token, or the tokens of a word.
std::vector<std::vector<size_t>> units_of(std::span<const int32_t> ids, const Tokenizer& tokenizer,
                                          bool words) {
  const SpecialTokens special = tokenizer.special();
  std::vector<std::vector<size_t>> units;
  bool open = false;  // a word, which may go on
  for (size_t i = 0; i < ids.size(); ++i) {
    const int32_t id = ids[i];
    if (id == special.start || id == special.end || id == special.mask) {
      open = false;
      continue;
    }
    if (!words || !open || tokenizer.begins_word(id)) units.emplace_back();
    units.back().push_back(i);
    open = true;
  }
  return units;
}

}  // namespace

MaskedText masked_text(std::span<const int32_t> ids, const Tokenizer& tokenizer,
                       const MaskingConfig& config, RandomStream random) {
  const SpecialTokens special = tokenizer.special();
  if (special.mask < 0) {
    throw ConfigError(
        "train: the tokenizer has no mask token, which masked language models need; train one with "
        "vocabulary.mask, or leave the tokenizer out");
  }
  const auto units = units_of(ids, tokenizer, config.whole_words);
  MaskedText text{{ids.begin(), ids.end()}, {}};
  for (const auto& unit : units) {
    const bool chosen = random.bernoulli(kNumbers * unit.front(), config.share);
    if (chosen) text.places.insert(text.places.end(), unit.begin(), unit.end());
  }
  if (text.places.empty() && !units.empty()) {
    text.places = units[random.below(kNumbers * ids.size(), units.size())];
  }
  const auto first = static_cast<uint64_t>(tokenizer.first_piece());
  for (const size_t place : text.places) {
    const auto what = double{random.uniform(kNumbers * place + 1)};
    if (what < config.masked) {
      text.read[place] = special.mask;
    } else if (what < config.masked + config.random) {
      const uint64_t pieces = tokenizer.size() - first;
      text.read[place] = static_cast<int32_t>(first + random.below(kNumbers * place + 2, pieces));
    }
  }
  return text;
}

}  // namespace attend
