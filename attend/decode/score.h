// How probable a model finds given sequences or lines of text, by teacher forcing.
#pragma once

#include <string>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

struct Scored {
  std::vector<float> log_probabilities;  // of each token, then of the end
  double total = 0;
};

// Sequence i of `written`, without start and end, belongs to record i of what the model reads.
std::vector<Scored> score(const Generator& model, const Batch& inputs, const Tokens& written,
                          const SpecialTokens& special);

struct ScoredText {
  std::vector<int32_t> tokens;  // of the target, without start and end
  Scored scored;
};

// Target i belongs to source i; a model that reads nothing but what it writes has no sources. A
// batch has at most `batch_tokens` of both sides, or one pair. Throws ConfigError where the model
// writes nothing, DataError where a source has no target.
std::vector<ScoredText> score_text(const TextModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets,
                                   size_t batch_tokens = 4096);

}  // namespace attend
