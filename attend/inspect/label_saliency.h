// How much each token of a text speaks for each label that a classifier could give it.
#pragma once

#include "attend/inspect/heat_map.h"
#include "attend/inspect/saliency.h"

namespace attend {

// How contributions are computed.
enum class LabelMethod {
  kGradient,  // as SaliencyMethod
  kIntegrated,
  kLeaveOut,  // how much the log-probability falls if the model reads the text without the token
};
// Throws ConfigError that lists the choices.
LabelMethod label_method_from_name(std::string_view name);
std::vector<std::string> label_method_names();

struct LabelSaliencyConfig {
  LabelMethod method = LabelMethod::kGradient;
  size_t labels = 10;                  // rows at most, the most probable labels
  size_t most_rows = 4096;             // of the model, computed at once
  std::function<void()> on_pass = {};  // called after each pass
};

struct LabelSaliency {
  std::vector<std::string> labels;  // most probable first; then that of the trace, if it has one
  std::vector<float> probabilities;
  // For each sequence of the trace, [labels, its items]: positive where the item speaks for the
  // label against all others. Undefined for the label itself.
  Saliency contributions;
};

// A note for readers.
inline constexpr std::string_view kLabelSaliencyNote =
    "Each row shows how the tokens move the log-probability of one label: above 0, a token speaks "
    "for it. Each row has its own scale. Contributions are those near this text only.";

// Throws ConfigError if the model gives no labels, and DataError if it would take more than
// kMostSaliencyRows (saliency.h).
LabelSaliency label_saliency(const TextModel& model, const Trace& trace,
                             const LabelSaliencyConfig& config = {});

// The sequence `keys`, by default what is read (saliency_keys()), as a picture: a row for each
// label, with its probability, on a scale of its own.
HeatMap label_saliency_picture(const TextModel& model, const Trace& trace,
                               std::string_view keys = "", const LabelSaliencyConfig& config = {});

// The same as JSON: {"labels": [{"label", "probability"}], "sequence", "items", "values"}.
std::string label_saliency_json(const LabelSaliency& found, const Trace& trace,
                                std::string_view keys = "");

}  // namespace attend
