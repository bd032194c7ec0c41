// The losses of tags and of numbers.
#include "attend/base/error.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/reduce.h"
#include "attend/train/class_weights.h"
#include "attend/train/objective.h"

namespace attend {
namespace {

// What the tagger makes of each word's tag. Tags that the vocabulary does not have are ignored.
class TagObjective : public Objective {
 public:
  TagObjective(const RunConfig& config, const Signature& signature)
      : column_(written_column(signature, ColumnKind::kLabels, "tags")),
        label_smoothing_(config.training.label_smoothing.value_or(0.0f)),
        weights_as_set_(config.training.class_weights) {}

  void prepare(const Corpus& corpus, const Tokenizers& tokenizers) override {
    class_weights_ = class_weights(weights_as_set_, corpus, column_, *tokenizers.at(column_));
  }

  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override {
    const Tensor tags = label_numbers(batch, column_, context);
    return {model.tagger()->tag_loss(batch, tags,
                                     {.label_smoothing = context.training ? label_smoothing_ : 0.0f,
                                      .class_weights = class_weights_}),
            target_weight(tags, class_weights_)};
  }

 private:
  std::string column_;
  float label_smoothing_;
  std::vector<std::string> weights_as_set_;
  Tensor class_weights_;  // undefined: all weigh 1
};

// Half the squared distance from the number, in units of the deviation of all numbers.
class SquaredError : public Objective {
 public:
  explicit SquaredError(const Signature& signature)
      : column_(written_column(signature, ColumnKind::kNumber, "squared_error")) {}

  Loss loss(const Model& model, const Batch& batch, const LossContext& /*context*/) const override {
    const Regressor& regressor = *model.regressor();
    const Tensor given = regressor.standard_numbers(batch);
    std::vector<float> wanted;
    for (const float number : batch[column_].values.span()) {
      const double standard = (double{number} - regressor.mean()) / regressor.deviation();
      wanted.push_back(static_cast<float>(standard));
    }
    const Tensor distance = subtract(given, Tensor::of(wanted, given.shape()));
    return {scale(sum(multiply(distance, distance)), 0.5f), static_cast<double>(wanted.size())};
  }

 private:
  std::string column_;
};

}  // namespace

std::unique_ptr<Objective> make_tag_objective(const RunConfig& config, const Signature& signature) {
  return std::make_unique<TagObjective>(config, signature);
}

std::unique_ptr<Objective> make_squared_error(const RunConfig& config, const Signature& signature) {
  refuse_class_weights(config);
  return std::make_unique<SquaredError>(signature);
}

}  // namespace attend
