// How much each item of a trace contributed to each written token, or to the label, by gradients.
#pragma once

#include <functional>

#include "attend/inspect/attention_maps.h"

namespace attend {

// How contributions are computed.
enum class SaliencyMethod {
  kGradient,  // gradient x input (Shrikumar et al., 2016)
  // Integrated gradients (Sundararajan et al., 2017) along a path from the vector of the unknown
  // token; near zero, norms would change abruptly.
  kIntegrated,
};
// Throws ConfigError that lists the choices.
SaliencyMethod saliency_method_from_name(std::string_view name);

struct SaliencyConfig {
  SaliencyMethod method = SaliencyMethod::kGradient;
  size_t steps = 32;        // of the integral
  size_t most_rows = 4096;  // computed at once
};

// The contributions to the log-probability of each written token, the end last, or of the label:
// for each sequence of the trace, [written, its items]. A positive value supports what was written.
// Items not yet written have 0. Undefined for a sequence that is not embedded, such as a label.
using Saliency = std::vector<Tensor>;

// Called whenever more rows are known, with their number; returns false to stop.
using SaliencyListener = std::function<bool(const Saliency& found, size_t rows)>;

// The most rows that a computation may take.
inline constexpr size_t kMostSaliencyRows = 600'000;
// Throws ConfigError if nothing is written, and DataError if it would take more than
// kMostSaliencyRows, which is minutes of work.
void check_saliency(const Trace& trace, const SaliencyConfig& config);

// The name of the sequence to show; empty: the one that is read or, if there is none, the one that
// is written. Throws ConfigError if it is not embedded.
std::string saliency_keys(const Trace& trace, std::string_view name = "");

// Calls check_saliency(), then computes. Freeze the model first (nn/freeze.h), so that its
// parameters get no gradients.
Saliency saliency(const TextModel& model, const Trace& trace, const SaliencyConfig& config = {},
                  const SaliencyListener& listener = {});

}  // namespace attend
