// How much the errors of each label weigh in a loss, from training.class_weights.
#pragma once

#include <span>
#include <string>

#include "attend/data/corpus.h"
#include "attend/text/tokenizer.h"

namespace attend {

// Throws ConfigError unless each text is LABEL=WEIGHT, or the only one is "auto".
void check_class_weights(std::span<const std::string> texts);

// One weight for each label of a column, [labels]; undefined if nothing is set. With "auto" it is
// N / (K n) for a label that occurs n times among the N of the corpus, where K different ones
// occur: all labels then weigh the same together. A label that is not named, or does not occur,
// weighs 1. Throws ConfigError for a name that is no label.
Tensor class_weights(std::span<const std::string> texts, const Corpus& corpus,
                     std::string_view column, const Tokenizer& labels);

}  // namespace attend
