#include "attend/models/lstm.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/nn/pack.h"
#include "attend/nn/row_tap.h"
#include "attend/ops/dropout.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {

void LstmConfig::check() const {
  check_ranges(*this, "lstm");
  if (text_vocabulary == 0) {
    throw ConfigError("lstm: a vocabulary of 0 tokens; it must be known");
  }
  for (const float chance : {embedding_dropout, layer_dropout, output_dropout, recurrent_dropout}) {
    if (!(chance >= 0.0f && chance < 1.0f)) {
      throw ConfigError("lstm: a dropout of {} is not within [0, 1)", chance);
    }
  }
}

ModelKind lstm_kind() {
  ModelKind kind = language_model_kind_of<LstmLanguageModel, LstmConfig>(
      "lstm", "recurrent language model",
      {{"lstm-small", "2 LSTM layers, 256 wide: characters, or some thousand subwords",
        [] { return AnyConfig(LstmConfig()); }}});
  kind.make_encoder = encoder_of<LstmEncoder, LstmConfig>;
  return kind;
}

LstmEncoder::LstmEncoder(const LstmConfig& c, Rng& rng)
    : config(c),
      embedding(c.text_vocabulary, c.embedding, rng),
      recurrent({.cell = c.cell,
                 .input = c.embedding,
                 .hidden = c.hidden,
                 .layers = c.layers,
                 .dropout = c.layer_dropout,
                 .variational = c.variational,
                 .recurrent_dropout = c.recurrent_dropout},
                rng) {
  recurrent.stage = "layers";
}

LstmLanguageModel::LstmLanguageModel(const LstmConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = LstmEncoder(config, rng);
  output_ = OutputLayer(encoder_.embedding, config.hidden, config.tied, rng);
}

// The table starts with rows of length 1, as an output layer should; what recurs wants variances of
// 1.
Tensor LstmEncoder::embedded(const Tokens& tokens) const {
  return embedding(tokens.ids, std::sqrt(static_cast<float>(config.embedding)));
}

Tensor LstmEncoder::dropped(const Tensor& x, const Packing& packing, float chance) const {
  return config.variational ? sequence_dropout(x, packing, chance) : dropout(x, chance);
}

// The output layer can read embeddings where they are as wide as states.
Tensor LstmEncoder::rows(const Tokens& tokens) const {
  const Tensor x = dropped(embedded(tokens), tokens.packing, config.embedding_dropout);
  if (config.embedding == config.hidden) tap_rows("embedding", x);
  return recurrent(x, tokens.packing).output;
}

void LstmEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", recurrent);
}

Forced LstmLanguageModel::force(const Batch& inputs, const Tokens& written) const {
  const Tensor x =
      encoder_.dropped(encoder_.rows(written), written.packing, config_.output_dropout);
  return {output_(rows_after_prefixes(x, written.packing, inputs))};
}

Column LstmLanguageModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens("text");
  return {encoder_.rows(text), text.packing};
}

struct LstmLanguageModel::Writing : Generator::State {
  const LstmLanguageModel& model;
  Hypotheses hypotheses;
  Recurrent::States states;  // of each layer
  ReadTokens read;

  explicit Writing(const LstmLanguageModel& of) : model(of), states(of.config_.layers) {
    for (RecurrentState& state : states) state = zeros(0);
  }

  RecurrentState zeros(size_t count) const {
    const Shape shape{count, model.config_.hidden};
    const bool lstm = model.config_.cell == Cell::kLstm;
    return {Tensor::zeros(shape), lstm ? Tensor::zeros(shape) : Tensor()};
  }

  size_t size() const override { return hypotheses.size(); }
  std::vector<int32_t> lengths() const override {
    return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
  }

  void admit(const Batch& inputs) override {
    const RecurrentState fresh = zeros(inputs.size());
    for (RecurrentState& state : states) {
      state.h = concat({state.h, fresh.h}, 0);
      if (fresh.c.defined()) state.c = concat({state.c, fresh.c}, 0);
    }
    hypotheses.admit(inputs.size());
    read.admit(inputs.size());
  }

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    hypotheses.retire();
    read.reorder(parents);
    const Tensor rows =
        Tensor::ids(std::vector<int32_t>(parents.begin(), parents.end()), {parents.size()});
    for (RecurrentState& state : states) {
      state.h = gather_rows(state.h, rows);
      if (state.c.defined()) state.c = gather_rows(state.c, rows);
    }
  }

  // A state does not know the one before, so what is left is read once more.
  void rewind(std::span<const int32_t> to) override {
    if (std::ranges::equal(to, hypotheses.lengths())) return;
    hypotheses.rewind(to);
    const Tokens again = read.rewind(to);
    hypotheses.rewind(std::vector<int32_t>(to.size(), 0));
    for (RecurrentState& state : states) state = zeros(to.size());
    model.advance(*this, again);
  }
};

std::unique_ptr<Generator::State> LstmLanguageModel::start() const {
  const NoGrad no_grad;
  return std::make_unique<Writing>(*this);
}

Tensor LstmLanguageModel::step(State& state, const Tokens& tokens, StepRows which) const {
  const NoGrad no_grad;
  check_step(state, tokens);
  const Tensor x = advance(dynamic_cast<Writing&>(state), tokens);
  return output_(wanted_rows(x, tokens.packing, which));
}

Tensor LstmLanguageModel::advance(Writing& writing, const Tokens& tokens) const {
  const NoGrad no_grad;
  writing.hypotheses.advance(tokens.packing);
  writing.read.add(tokens);
  Tensor x = encoder_.embedded(tokens);
  const bool single = tokens.packing.rows() == tokens.count() && tokens.packing.longest() == 1;
  if (packed_.empty() || !single) {
    const Recurrent::Output walked = encoder_.recurrent(x, tokens.packing, writing.states);
    writing.states = walked.states;
    return walked.output;
  }
  for (size_t i = 0; i < packed_.size(); ++i) {
    writing.states[i] = packed_[i].step(x, writing.states[i]);
    x = writing.states[i].h;
  }
  return x;
}

void LstmLanguageModel::pack() {
  const NoGrad no_grad;
  pack_weights(*this);
  packed_.clear();
  for (const RecurrentWeights& layer : encoder_.recurrent.weights) {
    packed_.emplace_back(layer, UnrolledCellOptions{.cell = config_.cell});
  }
}

void LstmLanguageModel::visit(Visitor& v) {
  encoder_.visit(v);
  v("output", output_);
}

}  // namespace attend
