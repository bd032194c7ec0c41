// How much each item of a trace counts for each token that was written, or for the label, by
// gradients: what attention weights are compared with.
#pragma once

#include <functional>

#include "attend/inspect/attention_maps.h"

namespace attend {

enum class SaliencyMethod {
  kGradient,  // gradient x input (Shrikumar et al., 2016)
  // Integrated gradients (Sundararajan et al., 2017), from the vector of the unknown token: a
  // path from zeros would begin where norms change all at once.
  kIntegrated,
};
SaliencyMethod saliency_method_from_name(std::string_view name);  // ConfigError with the choices

struct SaliencyConfig {
  SaliencyMethod method = SaliencyMethod::kGradient;
  size_t steps = 32;        // of the integral
  size_t most_rows = 4096;  // that go through the model at once
};

// Of the log-probability of each written token, the end last, or of the label: for each sequence of
// the trace, [written, its items]. Positive: the item speaks for what was written. What was not yet
// written has 0. Undefined for what is not embedded, such as a label.
using Saliency = std::vector<Tensor>;

// Told of the rows that are known by now, the first ones, each time some went through the model;
// returns false to stop there.
using SaliencyListener = std::function<bool(const Saliency& found, size_t rows)>;

inline constexpr size_t kMostSaliencyRows = 600'000;
// Throws ConfigError where nothing is written, and DataError where tokens x probes are more than
// kMostSaliencyRows: it would take minutes.
void check_saliency(const Trace& trace, const SaliencyConfig& config);

// The sequence to show: that of the name; empty: the one that is read first, or the one that is
// written where none is read. Throws ConfigError where it is not embedded.
std::string saliency_keys(const Trace& trace, std::string_view name = "");

// Checks, then takes gradients; the model's parameters take none if they are frozen first
// (nn/freeze.h).
Saliency saliency(const TextModel& model, const Trace& trace, const SaliencyConfig& config = {},
                  const SaliencyListener& listener = {});

}  // namespace attend
