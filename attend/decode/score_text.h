// Lines of text that a model scores: encoded, batched by length, and given back in their order.
#pragma once

#include <string>
#include <vector>

#include "attend/decode/score.h"
#include "attend/models/text_model.h"

namespace attend {

struct ScoredText {
  std::vector<int32_t> tokens;  // of the target, without start and end
  Scored scored;
};

// Target i belongs to source i. A batch has at most `batch_tokens` of both sides, or one pair.
std::vector<ScoredText> score_text(const TextModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets,
                                   size_t batch_tokens = 4096);

}  // namespace attend
