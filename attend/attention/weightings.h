// How scores become weights. A weighting is one entry of the registry in weightings.cpp, with its
// traits. Layers and models accept or refuse it by its traits; there is no other list of names.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/rng.h"
#include "attend/kernels/attention.h"
#include "attend/tensor/tensor.h"

namespace attend {

// The weightings, by name.
enum class Weighting {
  kSoftmax,          // e^s / sum e^s
  kSigmoid,          // 1 / (1 + e^-s), each key for itself (Ramapuram et al., 2024)
  kRelu,             // max(s, 0)
  kIdentity,         // s
  kSparsemax,        // the nearest point of the simplex (Martins and Astudillo, 2016)
  kEntmax15,         // 1.5-entmax, between softmax and sparsemax (Peters et al., 2019)
  kTopK,             // softmax over the k largest scores
  kHardArgmax,       // 1 for the largest score (the first of equals), no gradient
  kHardSample,       // 1 for a key sampled from the softmax, no gradient; see log_probability
  kStraightThrough,  // kHardArgmax forwards, softmax backwards
  kMonotonic,        // expected monotonic alignment (Raffel et al., 2017), row after row
  kMonotonicHard,    // its inference: the first key, from the last one on, whose score is positive
};

std::string_view name_of(Weighting weighting);
// Every weighting there is.
std::span<const Weighting> all_weightings();
void check_weighting(Weighting weighting);  // throws ConfigError for an invalid value

// What a layer or a model must know before it accepts a weighting. None has learned parts.
struct WeightingTraits {
  bool differentiable;  // passes gradients from the weights to the scores
  bool ordered_keys;    // needs keys in order, and all queries of a sequence in one call: a row
                        // depends on the row before it
  bool sampled;         // samples a key; log_probability trains it
  bool normalized;      // the weights of a query add up to 1
  bool sinks;           // allows AttentionOptions::sinks
  // The fused kernel's, where it has one; the plain path keeps all weights in memory.
  std::optional<kernels::FusedWeighting> fused;
};
const WeightingTraits& traits_of(Weighting weighting);  // throws ConfigError for an invalid value

// The names of the weightings whose traits satisfy a condition, for messages: "softmax, sigmoid".
std::string weightings_where(const std::function<bool(const WeightingTraits&)>& condition);

struct WeightingOptions {
  Weighting weighting = Weighting::kSoftmax;
  size_t top_k = 8;  // for kTopK; of equal scores, the first are taken
  // For kHardSample: row i samples at place `first_row` + i.
  RandomStream random = RandomStream(0, 0);
  size_t first_row = 0;
};

// The result of weigh().
struct Weighted {
  Tensor weights;          // [queries, keys]
  Tensor log_probability;  // [queries], of what kHardSample sampled, with its gradient
};

// scores [queries, keys], -infinity where masked: weight and gradient are 0 there. A query that
// sees no key gets weights, gradients and log_probability of 0.
Weighted weigh(const Tensor& scores, const WeightingOptions& options);

// weights [queries, keys] times values [keys, width]. A weight of 0 excludes a value even if it is
// NaN or infinite, forwards and backwards.
Tensor weighted_sum(const Tensor& weights, const Tensor& values);

}  // namespace attend
