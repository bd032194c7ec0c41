// Lines of text through a model that labels them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

// The log-probability (natural logarithm) of each label, for each line. A batch has at most
// `batch_tokens` tokens, or one line. Throws ConfigError, which says what the model is for, where
// it gives no labels.
std::vector<std::vector<double>> label_log_probabilities(const TextModel& model,
                                                         std::span<const std::string> lines,
                                                         size_t batch_tokens);

// A label by its number: TextModel::label() has its text.
struct RankedLabel {
  size_t number;
  double log_probability;
};
// The most probable labels, best first.
std::vector<RankedLabel> best_labels(std::span<const double> log_probabilities, size_t count);

}  // namespace attend
