// The vectors of the words of a vocabulary, for pictures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

struct VocabularyWords {
  std::vector<std::string> words;
  Tensor vectors;  // [words, width], of length 1
};

// The first tokens of a column's vocabulary that stand for text, which are mostly the frequent
// ones; an empty name is the column that the model reads. Throws ConfigError if the model looks
// none up.
VocabularyWords first_words(const TextModel& model, std::string_view column, size_t most);

}  // namespace attend
