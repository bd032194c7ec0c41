// What a masked language model would write where a text has mask tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

// A token that fits a mask.
struct FilledToken {
  int32_t id = 0;
  std::string piece;  // for people: "▁the"
  std::string text;   // the whole text with it in place of this mask, without other masks
  double probability = 0;
};

// The candidates of each mask of a text, most probable first.
using FilledMasks = std::vector<std::vector<FilledToken>>;

// Where masks stand in texts: "[MASK]", or the piece of the tokenizer's own mask token, "<mask>".
std::vector<std::string> mask_names(const Tokenizer& tokenizer);

// Texts with masks, and the best `count` candidates of each. Special tokens are no candidates. A
// text without a mask has none. Throws ConfigError, which says what the model is for, where it
// predicts no masked tokens, and DataError for a text that is too long.
std::vector<FilledMasks> fill_masks(const TextModel& model, std::span<const std::string> texts,
                                    size_t count);

}  // namespace attend
