#include "attend/inspect/step_rows.h"

#include <algorithm>

namespace attend {

StepRows::StepRows(std::span<const AttentionLayer> layers, size_t source_tokens)
    : source_tokens_(source_tokens) {
  for (const AttentionLayer& layer : layers_of(layers, AttentionPart::kCross)) {
    names_.push_back(layer.name);
  }
}

std::optional<RecordRequest> StepRows::wants(const std::string& layer) {
  if (std::ranges::find(names_, layer) == names_.end()) return std::nullopt;
  return request;
}

void StepRows::take(RecordedHead head) {
  const Tensor& weights = head.weights;
  if (!sum_.defined()) sum_ = Tensor::zeros({weights.rows(), source_tokens_});
  ++heads_;
  for (size_t i = 0; i < weights.rows(); ++i) {
    const auto from = weights.slice_rows(i, 1).span();
    float* to = sum_.data() + i * source_tokens_ + head.first_key;
    for (size_t k = 0; k < from.size(); ++k) to[k] += from[k];
  }
}

std::vector<float> StepRows::finish_step(size_t hypothesis) {
  if (!sum_.defined()) return {};
  std::vector<float> row = sum_.slice_rows(hypothesis, 1).to_vector();
  for (float& weight : row) weight /= static_cast<float>(heads_);
  sum_ = Tensor();
  heads_ = 0;
  return row;
}

}  // namespace attend
