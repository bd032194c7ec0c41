#include "attend/models/masked.h"

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/models/text_pair.h"
#include "attend/nn/pack.h"
#include "attend/ops/embedding.h"

namespace attend {
namespace {

std::unique_ptr<Model> make_masked(const AnyConfig& settings, Rng& rng) {
  const auto& config = settings.as<MaskedConfig>();
  check_ranges(config, "masked");
  return std::make_unique<MaskedModel>(make_encoder(config.encoder, config.text_vocabulary, rng),
                                       config.head, rng);
}

}  // namespace

ModelKind masked_kind() {
  ModelKind kind{
      "masked",
      "the encoder of another model, which predicts masked tokens",
      [] { return AnyConfig(MaskedConfig()); },
      make_masked,
      {{"masked", "the encoder of a small Transformer", [] { return AnyConfig(MaskedConfig()); }}}};
  kind.inner = encoder_inside<MaskedConfig>;
  return kind;
}

MaskedModel::MaskedModel(std::unique_ptr<SequenceEncoder> encoder, const MaskedHeadConfig& config,
                         Rng& rng, float norm_epsilon)
    : config_(config), encoder_(std::move(encoder)) {
  if (!encoder_->first_sees_all()) {
    throw ConfigError(
        "masked: the encoder reads forwards and would see only what stands before a masked token; "
        "let it read both ways, or train it as a language model");
  }
  const Embedding& table = encoder_->table();
  const bool projects = encoder_->width() != table.width();
  if (config.transform || projects) {
    transform_ = Linear(encoder_->width(), table.width(), rng);
  }
  if (config.transform) norm_ = LayerNorm(table.width(), norm_epsilon);
  bias_ = parameter({table.weight.out()}, Init::kZeros, rng);
  if (!config_.pair) return;
  pooler_ = Linear(encoder_->width(), encoder_->width(), rng);
  relation_ = Linear(encoder_->width(), 2, rng);
}

Tensor MaskedModel::output(const Tensor& rows) const {
  Tensor x = rows;
  if (config_.transform) {
    x = norm_(transform_(x, Activation::kGelu));
  } else if (transform_.weight.defined()) {
    x = transform_(x);
  }
  Linear output = encoder_->table().tied_output();
  output.bias = bias_;
  return output(x);
}

MaskedPredictor::Predicted MaskedModel::predict(const Batch& inputs, const Tensor& rows) const {
  const auto [x, packing] = encode(inputs);
  Predicted predicted{output(gather_rows(x, rows))};
  if (config_.pair) {
    predicted.relation = relation_(pooler_(first_rows(x, packing), Activation::kTanh));
  }
  return predicted;
}

Column MaskedModel::encode(const Batch& inputs) const {
  const auto [tokens, segments] = joined_texts(inputs);
  return {encoder_->rows_of_segments(tokens, segments), tokens.packing};
}

Signature MaskedModel::signature() const {
  Signature signature = text_signature(config_.pair, true, encoder_->positions());
  signature.layers = encoder_->layers(text_sequence(config_.pair));
  return signature;
}

void MaskedModel::pack() { pack_weights(*this); }

void MaskedModel::visit_head(Visitor& v) {
  v("transform", transform_);
  v("norm", norm_);
  v("bias", bias_);
  v("pooler", pooler_);
  v("relation", relation_);
}

void MaskedModel::visit(Visitor& v) {
  v("encoder", *encoder_);
  visit_head(v);
}

}  // namespace attend
