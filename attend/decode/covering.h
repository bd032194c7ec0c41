// Beam search that prefers hypotheses whose attention has seen all of the source (Wu et al., 2016).
#pragma once

#include "attend/decode/search.h"

namespace attend {

// As search(), but the score of a finished hypothesis has config.coverage_penalty times the sum,
// over source tokens, of log(min(c, 1)) added to it, where c is the attention that the token got
// from all that was written. `looks` is the model whose attention counts: `model`, or one of an
// ensemble. Throws ConfigError where it has none. Without a penalty it is search().
std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Seq2Seq& looks,
                                                     const Tokens& sources,
                                                     const SearchConfig& config,
                                                     const Prefixes& prefixes = {},
                                                     std::span<const size_t> lines = {});

}  // namespace attend
