#include "attend/models/lstmn.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/nn/pack.h"
#include "attend/ops/dropout.h"
#include "attend/tensor/tape.h"

namespace attend {

void LstmnModelConfig::check() const {
  check_ranges(*this, "lstmn");
  if (text_vocabulary == 0) {
    throw ConfigError("lstmn: a vocabulary of 0 tokens; it must be known");
  }
  for (const float chance : {embedding_dropout, layer_dropout, output_dropout}) {
    if (!(chance >= 0.0f && chance < 1.0f)) {
      throw ConfigError("lstmn: a dropout of {} is not within [0, 1)", chance);
    }
  }
}

ModelKind lstmn_kind() {
  return kind_of<LstmnLanguageModel, LstmnModelConfig>(
      "lstmn", "language model of LSTMs whose memory is attended",
      {{"lstmn-small", "1 layer, 256 wide (Cheng et al., 2016)",
        [] { return AnyConfig(LstmnModelConfig()); }}});
}

LstmnLanguageModel::LstmnLanguageModel(const LstmnModelConfig& config, Rng& rng) : config_(config) {
  config.check();
  embedding_ = Embedding(config.text_vocabulary, config.embedding, rng);
  for (size_t i = 0; i < config.layers; ++i) {
    layers_.push_back(Lstmn({.input = i == 0 ? config.embedding : config.hidden,
                             .hidden = config.hidden,
                             .attention = config.attention_width},
                            rng));
    layers_.back().name = "layers." + std::to_string(i) + ".memory";
  }
  output_ = OutputLayer(embedding_, config.hidden, config.tied, rng);
}

// The table starts with rows of length 1, as an output layer should; what recurs wants variances of
// 1.
Tensor LstmnLanguageModel::embedded(const Tokens& tokens) const {
  return embedding_(tokens.ids, std::sqrt(static_cast<float>(config_.embedding)));
}

Tensor LstmnLanguageModel::rows(const Tokens& tokens) const {
  Tensor x = dropout(embedded(tokens), config_.embedding_dropout);
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) x = dropout(x, config_.layer_dropout);
    x = layers_[i](x, tokens.packing);
  }
  return x;
}

Forced LstmnLanguageModel::force(const Batch& /*inputs*/, const Tokens& written) const {
  return {output_(dropout(rows(written), config_.output_dropout))};
}

Column LstmnLanguageModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens("text");
  return {rows(text), text.packing};
}

struct LstmnLanguageModel::Writing : Generator::State {
  Hypotheses hypotheses;
  std::vector<KeyValueCache> caches;  // of each layer

  size_t size() const override { return hypotheses.size(); }
  std::vector<int32_t> lengths() const override {
    return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
  }

  void admit(const Batch& inputs) override {
    hypotheses.admit(inputs.size());
    for (KeyValueCache& cache : caches) cache.admit(inputs.size());
  }
  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    hypotheses.retire();
    for (KeyValueCache& cache : caches) cache.reorder(parents);
  }
  void rewind(std::span<const int32_t> lengths) override {
    hypotheses.rewind(lengths);
    for (KeyValueCache& cache : caches) cache.rewind(lengths);
  }
};

std::unique_ptr<Generator::State> LstmnLanguageModel::start() const {
  auto state = std::make_unique<Writing>();
  state->caches.resize(layers_.size());
  return state;
}

Tensor LstmnLanguageModel::step(State& state, const Tokens& tokens, StepRows which) const {
  const NoGrad no_grad;
  check_step(state, tokens);
  auto& writing = dynamic_cast<Writing&>(state);
  writing.hypotheses.advance(tokens.packing);
  Tensor x = embedded(tokens);
  for (size_t i = 0; i < layers_.size(); ++i) {
    x = layers_[i].step(x, tokens.packing, writing.caches[i]);
  }
  return output_(wanted_rows(x, tokens.packing, which));
}

Signature LstmnLanguageModel::signature() const {
  Signature signature{{{.name = "text", .written = true}}, {}};
  for (const Lstmn& layer : layers_) signature.layers.push_back({layer.name, "text", "text"});
  return signature;
}

void LstmnLanguageModel::pack() { pack_weights(*this); }

void LstmnLanguageModel::visit(Visitor& v) {
  v("embedding", embedding_);
  v("layers", layers_);
  v("output", output_);
}

}  // namespace attend
