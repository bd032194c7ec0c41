// The loss of a bidirectional language model: cross-entropy of each token, given those before it
// and given those after it (Peters et al., 2018). An end is predicted forwards, a start backwards.
#include "attend/base/error.h"
#include "attend/models/text_pair.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/train/objective.h"

namespace attend {
namespace {

class BothDirections : public Objective {
 public:
  explicit BothDirections(const RunConfig& config)
      : label_smoothing_(config.training.label_smoothing.value_or(0.0f)) {}

  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override {
    const BidirectionalPredictor* const predictor = model.bidirectional_predictor();
    if (predictor == nullptr) {
      throw ConfigError(
          "train: training.objective both_directions needs a model that predicts in both "
          "directions, such as --preset elmo-small");
    }
    const Tokens text = batch.tokens(kTextColumn);
    std::vector<int32_t> after, before;
    for (size_t i = 0; i < text.count(); ++i) {
      const auto ids = text.sequence(i);
      if (ids.empty()) continue;
      after.insert(after.end(), ids.begin() + 1, ids.end());
      before.insert(before.end(), ids.begin(), ids.end() - 1);
    }
    const auto of = [&](const Tensor& logits, const std::vector<int32_t>& labels) {
      return cross_entropy(logits, Tensor::ids(labels, {labels.size()}),
                           {.label_smoothing = context.training ? label_smoothing_ : 0.0f,
                            .reduction = Reduction::kSum});
    };
    const auto [forward_logits, backward_logits] = predictor->predict_both(batch);
    const Tensor forward = of(forward_logits, after), backward = of(backward_logits, before);
    const auto count = static_cast<double>(after.size());
    return {
        .sum = add(forward, backward),
        .count = 2 * count,
        .parts = {{"forward", forward.detach(), count}, {"backward", backward.detach(), count}}};
  }

 private:
  float label_smoothing_;
};

}  // namespace

std::unique_ptr<Objective> make_both_directions(const RunConfig& config,
                                                const Signature& /*signature*/) {
  refuse_class_weights(config);
  return std::make_unique<BothDirections>(config);
}

}  // namespace attend
