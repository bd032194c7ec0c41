#include "attend/decode/score.h"

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {

DecoderRows decoder_rows(const Tokens& targets) {
  const Packing& packing = targets.packing;
  std::vector<int32_t> inputs, labels, lengths;
  inputs.reserve(packing.rows() + packing.count());
  labels.reserve(packing.rows() + packing.count());
  for (size_t s = 0; s < packing.count(); ++s) {
    const auto ids = targets.ids.index_span().subspan(packing.begin(s), packing.length(s));
    inputs.push_back(kStart);
    inputs.insert(inputs.end(), ids.begin(), ids.end());
    labels.insert(labels.end(), ids.begin(), ids.end());
    labels.push_back(kEnd);
    lengths.push_back(static_cast<int32_t>(ids.size()) + 1);
  }
  return {Tokens(inputs, Packing(lengths)), Tensor::ids(labels, {labels.size()})};
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
