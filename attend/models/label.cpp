#include "attend/models/label.h"

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/ops/dropout.h"

namespace attend {
ModelKind label_kind() {
  ModelKind kind = kind_of<LabelModel, LabelConfig>(
      "label", "a label for a text or a pair of texts, from the encoder of another model",
      {{"label", "the encoder of a small Transformer, its rows averaged",
        [] { return AnyConfig(LabelConfig()); }}});
  kind.of_pairs = [](const AnyConfig& settings) {
    LabelConfig c = settings.as<LabelConfig>();
    c.pair = true;
    return AnyConfig(c);
  };
  kind.around = around_encoder<LabelConfig>;
  kind.inner = encoder_inside<LabelConfig>;
  kind.sized = [](const ModelSize& size) {
    LabelConfig c;
    c.set_size(size);
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
  encoder_ = PooledEncoder("label", config, config.text_vocabulary, rng);
  output_ = Linear(encoder_.width(), config.unused_outputs + config.label_vocabulary, rng);
}

Tensor LabelModel::label_logits(const Batch& inputs) const {
  const Tensor all = output_(dropout(encoder_(inputs), config_.dropout));
  return config_.unused_outputs == 0
             ? all
             : all.slice_columns(config_.unused_outputs, config_.label_vocabulary);
}

Signature LabelModel::signature() const {
  return encoder_.signature({.name = "label", .kind = ColumnKind::kLabel, .written = true});
}

void LabelModel::visit(Visitor& v) {
  encoder_.visit(v);
  v("output", output_);
}

}  // namespace attend
