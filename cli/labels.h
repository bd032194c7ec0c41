// Lines of text through a model that labels them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/models/text_model.h"

namespace attend::cli {

// The natural logarithm of the probability of each label, for each line. A batch has at most
// `batch_tokens`, or one line. Throws ConfigError, which names the right command, where the model
// gives no labels.
std::vector<std::vector<double>> label_log_probabilities(const TextModel& model,
                                                         std::span<const std::string> lines,
                                                         size_t batch_tokens);

struct RankedLabel {
  size_t number;
  double log_probability;
};
// The likeliest, best first.
std::vector<RankedLabel> best_labels(std::span<const double> log_probabilities, size_t count);

}  // namespace attend::cli
