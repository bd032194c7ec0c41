// The probability that a model gives to sequences or lines of text, by teacher forcing.
#pragma once

#include <string>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

// Log-probabilities of a sequence, natural logarithms.
struct Scored {
  std::vector<float> log_probabilities;  // of each token, then of the end
  double total = 0;
};

// Scores sequence i of `written`, without start and end, given record i of `inputs`. Throws
// DataError if their numbers differ.
std::vector<Scored> score(const Generator& model, const Batch& inputs, const Tokens& written,
                          const SpecialTokens& special);

// A line of text with its score.
struct ScoredText {
  std::vector<int32_t> tokens;  // of the target, without start and end
  Scored scored;
};

// Scores target i given source i; a language model has no sources. A batch has at most
// `batch_tokens` tokens of both sides, or one pair. Throws ConfigError if the model writes nothing,
// DataError if there are not as many sources as targets.
std::vector<ScoredText> score_text(const TextModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets,
                                   size_t batch_tokens = 4096);

}  // namespace attend
