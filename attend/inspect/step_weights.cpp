#include "attend/inspect/step_weights.h"

#include <algorithm>

namespace attend {

StepWeights::StepWeights(const Trace& trace, const SequencePair& pair)
    : is_self_(pair.is_self()),
      is_joined_(trace.sequence(pair.queries).role == SequenceRole::kJoined),
      keys_(is_self_ ? 0 : trace.sequence(pair.keys).size()) {
  for (const AttentionLayer& layer : trace.layers) {
    if (pair_of(layer) == pair) names_.push_back(layer.name);
  }
}

std::optional<RecordRequest> StepWeights::wants(const std::string& layer) {
  if (std::ranges::find(names_, layer) == names_.end()) return std::nullopt;
  return request;
}

void StepWeights::take(RecordedHead head) {
  const Tensor& weights = head.weights;
  heads_ += head.sequence == 0 ? 1 : 0;
  for (size_t i = is_joined_ ? weights.rows() - 1 : 0; i < weights.rows(); ++i) {
    const size_t hypothesis = head.sequence + (is_joined_ ? 0 : i);
    if (sums_.size() <= hypothesis) sums_.resize(hypothesis + 1);
    std::vector<float>& sum = sums_[hypothesis];
    const auto from = weights.slice_rows(i, 1).span();
    sum.resize(is_self_ ? std::max(sum.size(), head.first_key + from.size()) : keys_);
    for (size_t k = 0; k < from.size(); ++k) sum.at(head.first_key + k) += from[k];
  }
}

std::vector<float> StepWeights::finish_step(size_t hypothesis) {
  if (sums_.empty()) return {};
  std::vector<float> row = std::move(sums_.at(hypothesis));
  for (float& weight : row) weight /= static_cast<float>(heads_);
  sums_.clear();
  heads_ = 0;
  return row;
}

}  // namespace attend
