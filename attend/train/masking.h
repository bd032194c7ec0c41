// Which tokens of a text a masked language model has to predict, and what it reads in their place
// (Devlin et al., 2019).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/rng.h"
#include "attend/text/tokenizer.h"
#include "attend/train/run_config.h"

namespace attend {

struct MaskedText {
  std::vector<int32_t> read;   // the ids of the text, some of them hidden
  std::vector<size_t> places;  // of the tokens to predict, in order
};

// Chooses tokens of `ids`, which may have starts and ends among them; those are never chosen.
// Choices are a function of the stream and of the text. At least one token is chosen if there is
// any. Throws ConfigError for a tokenizer without a mask token.
MaskedText masked_text(std::span<const int32_t> ids, const Tokenizer& tokenizer,
                       const MaskingConfig& config, RandomStream random);

}  // namespace attend
