// The loss of masked language models: cross-entropy of the tokens that are hidden and, for two
// texts, of whether they belong together. Only the rows of hidden tokens reach the output layer.
#include "attend/base/error.h"
#include "attend/base/hash.h"
#include "attend/models/text_pair.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/train/masking.h"
#include "attend/train/objective.h"

namespace attend {
namespace {

constexpr uint64_t kMaskingStreams = 0x6d61736b;

class MaskedTokens : public Objective {
 public:
  MaskedTokens(const RunConfig& config, const Signature& signature)
      : masking_(config.masking),
        label_smoothing_(config.training.label_smoothing.value_or(0.0f)),
        has_pair_(signature.columns.size() > 1) {
    masking_.check();
    for (const ColumnSpec& column : signature.columns) {
      if (!column.written && column.kind == ColumnKind::kTokens) continue;
      throw ConfigError(
          "train: training.objective masked_tokens needs a model that predicts masked tokens, such "
          "as --preset bert-mini");
    }
  }

  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override {
    const MaskedPredictor* predictor = model.masked_predictor();
    if (predictor == nullptr) {
      throw ConfigError("train: training.objective masked_tokens: the model predicts no tokens");
    }
    const Paired paired = has_pair_ ? in_relation(batch, context) : Paired{batch, {}};
    const Hidden hidden = hide(paired.batch, context);
    const MaskedPredictor::Predicted given = predictor->predict(hidden.batch, hidden.rows);
    Loss loss{cross_entropy(given.tokens, hidden.labels,
                            {.label_smoothing = context.training ? label_smoothing_ : 0.0f,
                             .reduction = Reduction::kSum}),
              static_cast<double>(hidden.labels.size())};
    if (!given.relation.defined()) return loss;
    // A mean over pairs weighs as much as a mean over tokens.
    const Tensor relation = cross_entropy(given.relation, paired.labels);
    const Tensor weighted = scale(relation, static_cast<float>(loss.count));
    loss.parts = {{"masked_tokens", loss.sum.detach()}, {"relation", weighted.detach()}};
    loss.sum = add(loss.sum, weighted);
    return loss;
  }

 private:
  struct Paired {
    Batch batch;
    Tensor labels;  // int32 [records]: 1 where the second text does not follow the first
  };
  struct Hidden {
    Batch batch;
    Tensor rows, labels;  // int32 [hidden tokens]: of the joined texts, and what stands there
  };

  // Half of the pairs get the second text of another pair of the batch or, for their order, change
  // places. Both are framed: `<s> a </s>` and `b </s>`.
  Paired in_relation(const Batch& batch, const LossContext& context) const {
    const Tokens first = batch.tokens(kTextColumn), second = batch.tokens(kPairColumn);
    TokenLines texts, pairs;
    std::vector<int32_t> labels;
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto a = first.sequence(i), b = second.sequence(i);
      const bool order = masking_.relation == TextRelation::kSentenceOrder;
      const bool altered = (order || batch.size() > 1) && context.random.bernoulli(2 * i, 0.5);
      labels.push_back(altered ? 1 : 0);
      if (altered && order) {
        std::vector<int32_t> swapped = {a.front()};
        swapped.insert(swapped.end(), b.begin(), b.end());
        texts.add(swapped);
        pairs.add(a.subspan(1));
      } else {
        const size_t away = 1 + (altered ? context.random.below(2 * i + 1, batch.size() - 1) : 0);
        texts.add(a);
        pairs.add(altered ? second.sequence((i + away) % batch.size()) : b);
      }
    }
    Batch made(batch.size());
    made.lines = batch.lines;
    made.add(kTextColumn, texts.tokens()).add(kPairColumn, pairs.tokens());
    return {made, Tensor::ids(labels, {labels.size()})};
  }

  Hidden hide(const Batch& batch, const LossContext& context) const {
    const Tokens all = joined_texts(batch).tokens;
    const Tokenizer& tokenizer = tokenizer_of(context, kTextColumn);
    const Tokens first = batch.tokens(kTextColumn);
    TokenLines texts, pairs;
    std::vector<int32_t> rows, labels;
    for (size_t i = 0; i < all.count(); ++i) {
      const auto ids = all.sequence(i);
      const MaskedText masked =
          masked_text(ids, tokenizer, masking_, stream_of_text(ids, context, kMaskingStreams));
      for (const size_t place : masked.places) {
        rows.push_back(static_cast<int32_t>(all.packing.begin(i) + place));
        labels.push_back(ids[place]);
      }
      const std::span<const int32_t> read = masked.read;
      texts.add(read.first(first.packing.length(i)));
      pairs.add(read.subspan(first.packing.length(i)));
    }
    Batch hidden(batch.size());
    hidden.lines = batch.lines;
    hidden.add(kTextColumn, texts.tokens());
    if (has_pair_) hidden.add(kPairColumn, pairs.tokens());
    return {hidden, Tensor::ids(rows, {rows.size()}), Tensor::ids(labels, {labels.size()})};
  }

  MaskingConfig masking_;
  float label_smoothing_;
  bool has_pair_;
};

}  // namespace

std::unique_ptr<Objective> make_masked_tokens(const RunConfig& config, const Signature& signature) {
  refuse_class_weights(config);
  return std::make_unique<MaskedTokens>(config, signature);
}

}  // namespace attend
