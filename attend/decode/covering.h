// Beam search that prefers hypotheses whose attention covers all of what was read (Wu et al.,
// 2016).
#pragma once

#include "attend/decode/search.h"
#include "attend/models/model.h"

namespace attend {

// As search(), but the score of a finished hypothesis has its record's coverage_penalty times the
// sum, over the tokens read, of log(min(c, 1)) added to it, where c is the attention that the token
// got from all that was written. `attending` is the model whose attention counts: that of `model`,
// or of one of an ensemble. Throws ConfigError where it has none. Records without a penalty get
// what search() gives.
std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Model& attending,
                                                     const Batch& inputs,
                                                     std::span<const SearchConfig> configs,
                                                     const SearchRuntime& runtime);
std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Model& attending,
                                                     const Batch& inputs,
                                                     const SearchConfig& config,
                                                     const SearchRuntime& runtime = {});

}  // namespace attend
