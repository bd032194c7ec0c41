#include "attend/train/objective.h"

#include "attend/base/error.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"

namespace attend {

Tensor CrossEntropyTerm::sum(const Seq2Seq& /*model*/, const TrainingBatch& batch,
                             const Taught& taught) const {
  return cross_entropy(taught.logits, batch.labels,
                       {.label_smoothing = label_smoothing_, .reduction = Reduction::kSum});
}

Tensor CoverageTerm::sum(const Seq2Seq& /*model*/, const TrainingBatch& batch,
                         const Taught& taught) const {
  if (!taught.coverage.defined()) {
    throw ConfigError("train: the model has no coverage loss");
  }
  return scale(taught.coverage, static_cast<float>(batch.label_count()));
}

Objective objective_of(const TrainingConfig& config) {
  Objective objective;
  objective.push_back(std::make_unique<CrossEntropyTerm>(config.label_smoothing));
  if (config.coverage_loss > 0) {
    objective.push_back(std::make_unique<CoverageTerm>(config.coverage_loss));
  }
  return objective;
}

Tensor objective_sum(const Objective& objective, const Seq2Seq& model, const TrainingBatch& batch) {
  const Taught taught = model.teach(batch.sources, batch.inputs);
  Tensor total;
  for (const auto& term : objective) {
    const Tensor part = term->sum(model, batch, taught);
    const auto weight = static_cast<float>(term->weight());
    const Tensor weighted = weight == 1.0f ? part : scale(part, weight);
    total = total.defined() ? add(total, weighted) : weighted;
  }
  return total;
}

}  // namespace attend
