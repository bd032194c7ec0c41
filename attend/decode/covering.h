// Beam search that prefers hypotheses whose attention covers the whole input (Wu et al., 2016).
#pragma once

#include "attend/decode/search.h"
#include "attend/models/model.h"

namespace attend {

// Like search(), but adds to the score of a finished hypothesis coverage_penalty times the sum of
// log(min(c, 1)) over the input tokens, where c is the attention that a token got in total.
// `attending` is the model whose attention is used: the one behind `model`, or one of an ensemble.
// Throws ConfigError if it has no attention. Without a penalty the result is that of search().
std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Model& attending,
                                                     const Batch& inputs,
                                                     std::span<const SearchConfig> configs,
                                                     const SearchRuntime& runtime);
std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Model& attending,
                                                     const Batch& inputs,
                                                     const SearchConfig& config,
                                                     const SearchRuntime& runtime = {});

}  // namespace attend
