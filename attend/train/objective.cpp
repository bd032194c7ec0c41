#include "attend/train/objective.h"

#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"

namespace attend {

Tensor CrossEntropyTerm::sum(const Seq2Seq& /*model*/, const TrainingBatch& batch,
                             const Tensor& logits) const {
  return cross_entropy(logits, batch.labels,
                       {.label_smoothing = label_smoothing_, .reduction = Reduction::kSum});
}

Tensor objective_sum(const Objective& objective, const Seq2Seq& model, const TrainingBatch& batch) {
  const Tensor logits = model.logits(batch.sources, batch.inputs);
  Tensor total;
  for (const auto& term : objective) {
    const Tensor part = term->sum(model, batch, logits);
    const auto weight = static_cast<float>(term->weight());
    const Tensor weighted = weight == 1.0f ? part : scale(part, weight);
    total = total.defined() ? add(total, weighted) : weighted;
  }
  return total;
}

}  // namespace attend
