// Sampling: each token is drawn by its probability. Not for use outside decode/.
#pragma once

#include "attend/decode/search.h"

namespace attend {

// n_best hypotheses of each source. The lot of line l, hypothesis h, token t is a function of
// (seed, l, h, t).
std::vector<std::vector<Hypothesis>> draw_lots(const Generator& model, const Tokens& sources,
                                               const SearchConfig& config, const Prefixes& prefixes,
                                               std::span<const size_t> lines);

// The token that a lot in [0, 1) falls on, by temperature, top_k and top_p.
size_t draw(std::span<const float> logits, const SearchConfig& config, double lot);

}  // namespace attend
