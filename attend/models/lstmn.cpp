#include "attend/models/lstmn.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/nn/pack.h"
#include "attend/nn/row_tap.h"
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
  ModelKind kind = language_model_kind_of<LstmnLanguageModel, LstmnModelConfig>(
      "lstmn", "language model of LSTMs whose memory is attended",
      {{"lstmn-small", "1 layer, 256 wide (Cheng et al., 2016)",
        [] { return AnyConfig(LstmnModelConfig()); }}});
  kind.make_encoder = encoder_of<LstmnEncoder, LstmnModelConfig>;
  return kind;
}

LstmnEncoder::LstmnEncoder(const LstmnModelConfig& c, Rng& rng)
    : config(c), embedding(c.text_vocabulary, c.embedding, rng) {
  for (size_t i = 0; i < c.layers; ++i) {
    memories.push_back(Lstmn({.input = i == 0 ? c.embedding : c.hidden,
                              .hidden = c.hidden,
                              .attention = c.attention_width},
                             rng));
    memories.back().name = "layers." + std::to_string(i) + ".memory";
  }
}

LstmnLanguageModel::LstmnLanguageModel(const LstmnModelConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = LstmnEncoder(config, rng);
  output_ = OutputLayer(encoder_.embedding, config.hidden, config.tied, rng);
}

// The table starts with rows of length 1, as an output layer should; what recurs wants variances of
// 1.
Tensor LstmnEncoder::embedded(const Tokens& tokens) const {
  return embedding(tokens.ids, std::sqrt(static_cast<float>(config.embedding)));
}

// The output layer can read embeddings where they are as wide as states.
Tensor LstmnEncoder::rows(const Tokens& tokens) const {
  Tensor x = dropout(embedded(tokens), config.embedding_dropout);
  if (config.embedding == config.hidden) tap_rows("embedding", x);
  for (size_t i = 0; i < memories.size(); ++i) {
    if (i > 0) x = dropout(x, config.layer_dropout);
    x = memories[i](x, tokens.packing);
    tap_rows("layers", i, x);
  }
  return x;
}

std::vector<AttentionLayer> LstmnEncoder::layers(const std::string& sequence) const {
  std::vector<AttentionLayer> all;
  for (const Lstmn& memory : memories) all.push_back({memory.name, sequence, sequence});
  return all;
}

void LstmnEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", memories);
}

Forced LstmnLanguageModel::force(const Batch& inputs, const Tokens& written) const {
  const Tensor x = rows_after_prefixes(encoder_.rows(written), written.packing, inputs);
  return {output_(dropout(x, config_.output_dropout))};
}

Column LstmnLanguageModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens("text");
  return {encoder_.rows(text), text.packing};
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
  state->caches.resize(encoder_.memories.size());
  return state;
}

Tensor LstmnLanguageModel::step(State& state, const Tokens& tokens, StepRows which) const {
  const NoGrad no_grad;
  check_step(state, tokens);
  auto& writing = dynamic_cast<Writing&>(state);
  writing.hypotheses.advance(tokens.packing);
  Tensor x = encoder_.embedded(tokens);
  for (size_t i = 0; i < encoder_.memories.size(); ++i) {
    x = encoder_.memories[i].step(x, tokens.packing, writing.caches[i]);
  }
  return output_(wanted_rows(x, tokens.packing, which));
}

Signature LstmnLanguageModel::signature() const {
  return {{{.name = "text", .written = true}}, encoder_.layers("text")};
}

void LstmnLanguageModel::pack() { pack_weights(*this); }

void LstmnLanguageModel::visit(Visitor& v) {
  encoder_.visit(v);
  v("output", output_);
}

}  // namespace attend
