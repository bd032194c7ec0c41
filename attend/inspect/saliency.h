// How much each token that a model read counts for each token that it wrote, by gradients: what
// attention weights are compared with.
#pragma once

#include <functional>

#include "attend/inspect/reading.h"

namespace attend {

enum class SaliencyMethod {
  kGradient,  // gradient x input (Shrikumar et al., 2016)
  // Integrated gradients (Sundararajan et al., 2017), from the vector of the unknown token: from
  // zeros the way would begin where norms turn by all of it at once.
  kIntegrated,
};
SaliencyMethod saliency_method_from_name(std::string_view name);  // ConfigError with the choices

struct SaliencyConfig {
  SaliencyMethod method = SaliencyMethod::kGradient;
  size_t steps = 32;        // of the integral
  size_t most_rows = 4096;  // that go through the model at once
};

// Of the log-probability of each written token, the end last. Positive: the token was for it.
struct Saliency {
  Tensor source;  // [target tokens, source tokens]
  Tensor target;  // [target tokens, decoder's inputs], the start first; 0 for those not yet written
};

// Told of the rows that are known by now, the first ones, each time some went through the model;
// gives false to stop there.
using SaliencyListener = std::function<bool(const Saliency& found, size_t rows)>;

inline constexpr size_t kMostSaliencyRows = 600'000;
// Throws DataError where tokens x probes are more than kMostSaliencyRows: it would take minutes.
void check_saliency(const Reading& reading, const SaliencyConfig& config);

// Checks, then takes gradients; the model's parameters take none if they are frozen first
// (nn/freeze.h).
Saliency saliency(const TextModel& model, const Reading& reading, const SaliencyConfig& config = {},
                  const SaliencyListener& listener = {});

}  // namespace attend
