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
  heads_ += head.sequence == 0 ? 1 : 0;
  for (size_t i = 0; i < weights.rows(); ++i) {
    const size_t hypothesis = head.sequence + i;
    if (sums_.size() <= hypothesis) sums_.resize(hypothesis + 1);
    std::vector<float>& sum = sums_[hypothesis];
    sum.resize(source_tokens_);
    const auto from = weights.slice_rows(i, 1).span();
    for (size_t k = 0; k < from.size(); ++k) sum.at(head.first_key + k) += from[k];
  }
}

std::vector<float> StepRows::finish_step(size_t hypothesis) {
  if (sums_.empty()) return {};
  std::vector<float> row = std::move(sums_.at(hypothesis));
  for (float& weight : row) weight /= static_cast<float>(heads_);
  sums_.clear();
  heads_ = 0;
  return row;
}

}  // namespace attend
