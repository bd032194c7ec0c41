// Sampling: each token is drawn by its probability. Not for use outside decode/.
#pragma once

#include "attend/decode/frontier.h"

namespace attend {

// Appends the next token of each hypothesis of one record, which branches into n_best at its first
// choice. The token at position t of sample s of line l is a function of (seed, l, s, t) and of
// what was written before.
void sample(const Frontier& frontier, const NextTokens& next, LiveRange range,
            std::vector<Candidate>& chosen);

// The token that a number in [0, 1) falls on when all are laid out by their probability, under
// temperature, top_k and top_p.
size_t sample_token(std::span<const float> logits, const SearchConfig& config, double uniform);

}  // namespace attend
