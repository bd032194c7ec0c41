#include "attend/models/regression.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/nn/pack.h"
#include "attend/ops/dropout.h"

namespace attend {

ModelKind regression_kind() {
  ModelKind kind = kind_of<RegressionModel, RegressionConfig>(
      "regression", "a number for a text or a pair of texts, from the encoder of another model",
      {{"regression", "the encoder of a small Transformer, its rows averaged",
        [] { return AnyConfig(RegressionConfig()); }}});
  kind.of_pairs = [](const AnyConfig& settings) {
    RegressionConfig c = settings.as<RegressionConfig>();
    c.pair = true;
    return AnyConfig(c);
  };
  kind.around = around_encoder<RegressionConfig>;
  kind.inner = encoder_inside<RegressionConfig>;
  kind.sized = [](const ModelSize& size) {
    RegressionConfig c;
    c.set_size(size);
    c.dropout = size.dropout;
    return AnyConfig(c);
  };
  return kind;
}

void RegressionConfig::check() const {
  check_ranges(*this, "regression");
  if (text_vocabulary == 0) {
    throw ConfigError("regression: a vocabulary of 0 tokens; it must be known");
  }
  if (!(dropout >= 0.0f && dropout < 1.0f)) {
    throw ConfigError("regression: a dropout of {} is not within [0, 1)", dropout);
  }
  if (!std::isfinite(mean) || !(deviation > 0 && std::isfinite(deviation))) {
    throw ConfigError(
        "regression: numbers of mean {} and deviation {}; the deviation must be above 0", mean,
        deviation);
  }
}

RegressionModel::RegressionModel(const RegressionConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = PooledEncoder("regression", config, config.text_vocabulary, rng);
  output_ = Linear(encoder_.width(), 1, rng);
}

Tensor RegressionModel::standard_numbers(const Batch& inputs) const {
  return output_(dropout(encoder_(inputs), config_.dropout));
}

Signature RegressionModel::signature() const {
  return encoder_.signature({.name = "number", .kind = ColumnKind::kNumber, .written = true});
}

void RegressionModel::pack() { pack_weights(*this); }

void RegressionModel::visit(Visitor& v) {
  encoder_.visit(v);
  v("output", output_);
}

}  // namespace attend
