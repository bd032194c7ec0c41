#include "attend/models/elmo.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/models/text_pair.h"
#include "attend/nn/pack.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/linear.h"
#include "attend/ops/norm.h"
#include "attend/ops/shape.h"
#include "attend/ops/softmax.h"

namespace attend {
namespace {

AnyConfig elmo_of(size_t width) {
  ElmoConfig c;
  c.width = width;
  return AnyConfig(c);
}

// All rows of each sequence but its first, or but its last.
Tensor rows_without(const Tensor& x, const Packing& packing, bool first) {
  std::vector<int32_t> rows;
  for (size_t i = 0; i < packing.count(); ++i) {
    const size_t begin = packing.begin(i) + (first ? 1 : 0);
    const size_t end = packing.end(i) - (first || packing.length(i) == 0 ? 0 : 1);
    for (size_t row = begin; row < end; ++row) rows.push_back(static_cast<int32_t>(row));
  }
  return gather_rows(x, Tensor::ids(rows, {rows.size()}));
}

}  // namespace

void ElmoConfig::check() const {
  check_ranges(*this, "elmo");
  if (text_vocabulary == 0) {
    throw ConfigError("elmo: a vocabulary of 0 tokens; it must be known");
  }
  for (const float chance : {dropout, recurrent_dropout}) {
    if (!(chance >= 0.0f && chance < 1.0f)) {
      throw ConfigError("elmo: a dropout of {} is not within [0, 1)", chance);
    }
  }
}

ModelKind elmo_kind() {
  ModelKind kind = kind_of<ElmoModel, ElmoConfig>(
      "elmo", "recurrent language model in both directions, whose layers are mixed",
      {{"elmo-small", "2 LSTM layers each way, 256 wide", [] { return elmo_of(256); }},
       {"elmo-base", "2 LSTM layers each way, 512 wide (Peters et al., 2018, give as wide vectors)",
        [] { return elmo_of(512); }}});
  kind.make_encoder = encoder_of<ElmoEncoder, ElmoConfig>;
  return kind;
}

ElmoEncoder::ElmoEncoder(const ElmoConfig& c, Rng& rng)
    : config(c), embedding(c.text_vocabulary, c.width, rng) {
  for (size_t i = 0; i < c.layers; ++i) {
    stack.emplace_back(RecurrentConfig{.cell = c.cell,
                                       .input = c.width,
                                       .hidden = c.width,
                                       .bidirectional = true,
                                       .recurrent_dropout = c.recurrent_dropout},
                       rng);
  }
  mix = constant_parameter({c.layers + 1}, 0.0f);
  gamma = constant_parameter({1}, 1.0f);
}

Tensor ElmoEncoder::dropped(const Tensor& x) const { return dropout(x, config.dropout); }

// The table starts with rows of length 1, as an output layer should; what recurs wants variances of
// 1. Each direction reads its own layer below alone: one that read both would see what it predicts.
ElmoEncoder::Directions ElmoEncoder::directions(const Tokens& tokens) const {
  const Tensor embedded = embedding(tokens.ids, std::sqrt(static_cast<float>(config.width)));
  const auto walk = [&](size_t direction) {
    std::vector<Tensor> rows = {embedded};
    for (const Recurrent& layer : stack) {
      const Tensor x = dropped(rows.back());
      const Tensor y = recurrent(x, tokens.packing, layer.weights[direction], {},
                                 {.cell = config.cell,
                                  .reverse = direction == 1,
                                  .mask = dropout_mask(tokens.packing.count(), config.width,
                                                       config.recurrent_dropout)})
                           .output;
      rows.push_back(config.residual && rows.size() > 1 ? add(y, rows.back()) : y);
    }
    return rows;
  };
  return {walk(0), walk(1)};
}

Tensor ElmoEncoder::shares() const { return softmax(mix); }

Tensor ElmoEncoder::rows(const Tokens& tokens) const {
  const auto [forward, backward] = directions(tokens);
  std::vector<Tensor> layers;
  for (size_t i = 0; i < forward.size(); ++i) {
    Tensor both = concat({forward[i], backward[i]}, -1);
    if (config.mix_norm) both = layer_norm(both, {}, {});
    layers.push_back(reshape(both, {1, both.size()}));
  }
  const Tensor weights = multiply(reshape(shares(), {layers.size(), 1}), gamma);
  return reshape(matmul(reshape(weights, {1, layers.size()}), concat(layers, 0)),
                 {tokens.packing.rows(), width()});
}

void ElmoEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", stack);
  v("mix", mix);
  v("gamma", gamma);
}

ElmoModel::ElmoModel(const ElmoConfig& config, Rng& rng) {
  config.check();
  encoder_ = ElmoEncoder(config, rng);
  output_ = OutputLayer(encoder_.embedding, config.width, config.tied, rng);
}

BidirectionalPredictor::Predicted ElmoModel::predict_both(const Batch& inputs) const {
  const Tokens text = inputs.tokens(kTextColumn);
  const auto [forward, backward] = encoder_.directions(text);
  return {output_(encoder_.dropped(rows_without(forward.back(), text.packing, false))),
          output_(encoder_.dropped(rows_without(backward.back(), text.packing, true)))};
}

Column ElmoModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens(kTextColumn);
  return {encoder_.rows(text), text.packing};
}

Signature ElmoModel::signature() const {
  Signature signature = text_signature(false, true, {});
  signature.objective = "both_directions";
  return signature;
}

void ElmoModel::pack() { pack_weights(*this); }

void ElmoModel::visit(Visitor& v) {
  v("encoder", encoder_);
  v("output", output_);
}

}  // namespace attend
