#include "attend/models/label.h"

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/io/config.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"
#include "attend/ops/pool.h"

namespace attend {
namespace {

constexpr Named<LabelPooling> kPoolings[] = {{LabelPooling::kMean, "mean"},
                                             {LabelPooling::kFirst, "first"},
                                             {LabelPooling::kLast, "last"},
                                             {LabelPooling::kAttention, "attention"}};

// An encoder is made from the settings of its model, whatever that reads and writes.
AnyConfig encoder_settings(const LabelConfig& config) {
  AnyConfig settings = config.encoder.settings;
  const std::string size = std::to_string(config.text_vocabulary);
  for (const Field& field : fields_of(settings).fields) {
    const bool own = field.path.find('.') == std::string::npos;
    if (own && field.path.ends_with("_vocabulary")) field.set(std::vector{size});
  }
  return settings;
}

}  // namespace

std::string_view name_of(LabelPooling pooling) { return name_from_value(kPoolings, pooling); }

ModelKind label_kind() {
  ModelKind kind = kind_of<LabelModel, LabelConfig>(
      "label", "a label for a text, from the encoder of another model",
      {{"label", "the encoder of a small Transformer, its rows averaged",
        [] { return AnyConfig(LabelConfig()); }}});
  kind.sized = [](const ModelSize& size) {
    LabelConfig c;
    c.encoder.settings = model_kind(c.encoder.kind.name).sized(size);
    c.dropout = size.dropout;
    return AnyConfig(c);
  };
  return kind;
}

void LabelConfig::check() const {
  check_ranges(*this, "label");
  if (text_vocabulary == 0 || label_vocabulary == 0) {
    throw ConfigError("label: a vocabulary of {} tokens and {} labels; both must be known",
                      text_vocabulary, label_vocabulary);
  }
  if (!(dropout >= 0.0f && dropout < 1.0f)) {
    throw ConfigError("label: a dropout of {} is not within [0, 1)", dropout);
  }
}

LabelModel::LabelModel(const LabelConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = model_kind(config.encoder.kind.name).make_encoder(encoder_settings(config), rng);
  if (config.pooling == LabelPooling::kFirst && !encoder_->first_sees_all()) {
    throw ConfigError(
        "label: pooling 'first' takes the row of the start, but the encoder reads forwards and has "
        "seen nothing else there; let it read both ways, or use 'mean', 'last' or 'attention'");
  }
  if (config.pooling == LabelPooling::kAttention) {
    pooling_ =
        AttentionPooling({.attention = {.width = encoder_->width(), .heads = config.heads}}, rng);
    pooling_.attention.name = "pooling";
  }
  output_ = Linear(encoder_->width(), config.unused_outputs + config.label_vocabulary, rng);
}

Tensor LabelModel::pooled(const Tensor& rows, const Packing& packing) const {
  switch (config_.pooling) {
    case LabelPooling::kMean:
      return mean_pool(rows, packing);
    case LabelPooling::kAttention:
      return pooling_(rows, packing);
    case LabelPooling::kFirst:
    case LabelPooling::kLast:
      break;
  }
  std::vector<int32_t> one;  // of each text
  for (size_t i = 0; i < packing.count(); ++i) {
    const bool first = config_.pooling == LabelPooling::kFirst;
    one.push_back(static_cast<int32_t>(first ? packing.begin(i) : packing.end(i) - 1));
  }
  return gather_rows(rows, Tensor::ids(one, {one.size()}));
}

Tensor LabelModel::label_logits(const Batch& inputs) const {
  const auto [rows, packing] = encode(inputs);
  const Tensor all = output_(dropout(pooled(rows, packing), config_.dropout));
  return config_.unused_outputs == 0
             ? all
             : all.slice_columns(config_.unused_outputs, config_.label_vocabulary);
}

Column LabelModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens("text");
  return {encoder_->rows(text), text.packing};
}

Signature LabelModel::signature() const {
  Signature signature{{{.name = "text",
                        .framing = {.start = config_.pooling == LabelPooling::kFirst, .end = true},
                        .positions = encoder_->positions()},
                       {.name = "label", .kind = ColumnKind::kLabel, .written = true}},
                      encoder_->layers("text")};
  if (config_.pooling == LabelPooling::kAttention) {
    signature.layers.push_back({pooling_.attention.name, "label", "text", config_.heads});
  }
  return signature;
}

void LabelModel::visit(Visitor& v) {
  v("encoder", *encoder_);
  v("pooling", pooling_);
  v("output", output_);
}

}  // namespace attend
