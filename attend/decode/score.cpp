#include "attend/decode/score.h"

#include "attend/base/error.h"
#include "attend/decode/text_batches.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {

std::vector<Scored> score(const Generator& model, const Batch& inputs, const Tokens& written,
                          const SpecialTokens& special) {
  const NoGrad no_grad;
  if (inputs.size() != written.count()) {
    throw DataError("score: {} records but {} sequences", inputs.size(), written.count());
  }
  const TeacherRows rows = teacher_rows(written, special);
  const Tensor losses = cross_entropy(model.logits(inputs, rows.inputs), rows.labels,
                                      {.reduction = Reduction::kNone});
  std::vector<Scored> all(inputs.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const Packing& packing = rows.inputs.packing;
    for (const float loss : losses.span().subspan(packing.begin(i), packing.length(i))) {
      all[i].log_probabilities.push_back(-loss);
      all[i].total -= double{loss};
    }
  }
  return all;
}

std::vector<ScoredText> score_text(const TextModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets, size_t batch_tokens) {
  TextPairs pairs("score", model, sources, targets);
  const SpecialTokens special = model.tokenizer(model.written().name).special();
  std::vector<ScoredText> all(pairs.size());
  pairs.in_batches(
      model, batch_tokens,
      [&](std::span<const size_t> numbers, const Batch& inputs, const Tokens& written) {
        std::vector<Scored> scored = score(model.generator(), inputs, written, special);
        for (size_t i = 0; i < numbers.size(); ++i) all[numbers[i]].scored = std::move(scored[i]);
      });
  for (size_t i = 0; i < all.size(); ++i) all[i].tokens = std::move(pairs.written[i]);
  return all;
}

}  // namespace attend
