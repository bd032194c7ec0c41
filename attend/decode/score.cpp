#include "attend/decode/score.h"

#include "attend/base/error.h"
#include "attend/data/batch.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {

DecoderRows decoder_rows(const Tokens& targets) {
  const auto ids = targets.ids.index_span();
  std::vector<int32_t> lengths;
  for (size_t s = 0; s < targets.packing.count(); ++s) {
    lengths.push_back(static_cast<int32_t>(targets.packing.length(s)) + 1);
  }
  Batch batch;
  batch.target.assign(ids.begin(), ids.end());
  batch.targets = Packing(lengths);
  const std::vector<int32_t> labels = batch.labels();
  return {Tokens(batch.decoder_inputs(), batch.targets), Tensor::ids(labels, {labels.size()})};
}

std::vector<Scored> score(const Seq2Seq& model, const Tokens& sources, const Tokens& targets) {
  const NoGrad no_grad;
  if (sources.packing.count() != targets.packing.count()) {
    throw DataError("score: {} sources but {} targets", sources.packing.count(),
                    targets.packing.count());
  }
  const DecoderRows rows = decoder_rows(targets);
  const Tensor losses = cross_entropy(model.logits(sources, rows.inputs), rows.labels,
                                      {.reduction = Reduction::kNone});
  std::vector<Scored> all(sources.packing.count());
  for (size_t s = 0; s < all.size(); ++s) {
    const Packing& packing = rows.inputs.packing;
    for (const float loss : losses.span().subspan(packing.begin(s), packing.length(s))) {
      all[s].log_probabilities.push_back(-loss);
      all[s].total -= double{loss};
    }
  }
  return all;
}

}  // namespace attend
