// What repeating costs: logits of tokens that are there already are changed before any search or
// sampling sees them. Not for use outside decode/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/decode/search.h"

namespace attend {

bool has_penalties(const SearchConfig& config);

// Keskar et al., 2019 ("CTRL"): divides what speaks for a token, multiplies what speaks against it.
float repetition_penalised(float logit, float penalty);

// Of a token that was written `count` times: less `frequency` for each time, less `presence` where
// there was any.
float count_penalised(float logit, size_t count, float presence, float frequency);

struct ChangedLogit {
  int32_t token;
  float before;
};

// Keeps what it counts with, so that a step takes no memory of the size of a vocabulary.
class Penaliser {
 public:
  explicit Penaliser(size_t vocabulary) : counts_(vocabulary, 0) {}

  // The repetition penalty is for the tokens of the prompt and of what was written after it, the
  // other two for those that were written. Gives what has changed, a token once.
  std::vector<ChangedLogit> operator()(const SearchConfig& config, std::span<const int32_t> prompt,
                                       std::span<const int32_t> written, std::span<float> logits);

 private:
  std::vector<uint32_t> counts_;  // 0: not there; otherwise 1 more than times it was written
};

}  // namespace attend
