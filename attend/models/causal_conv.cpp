#include "attend/models/causal_conv.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/nn/pack.h"
#include "attend/nn/row_tap.h"
#include "attend/ops/activations.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/glu.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

struct ActivationEntry {
  HeadActivation value;
  std::string_view name;
  Activation function;
};
constexpr ActivationEntry kActivations[] = {
    {HeadActivation::kRelu, "relu", Activation::kRelu},
    {HeadActivation::kGelu, "gelu", Activation::kGelu},
    {HeadActivation::kSilu, "silu", Activation::kSilu},
    {HeadActivation::kTanh, "tanh", Activation::kTanh},
};

Activation function_of(HeadActivation activation) {
  for (const ActivationEntry& entry : kActivations) {
    if (entry.value == activation) return entry.function;
  }
  return Activation::kIdentity;
}

}  // namespace

std::string_view name_of(HeadActivation activation) {
  return name_from_value(kActivations, activation);
}

size_t CausalConvConfig::reach() const {
  size_t rows = 0;
  for (size_t i = 0; i < layers; ++i) rows += (kernel - 1) * dilation(i);
  return rows;
}

void CausalConvConfig::check() const {
  check_ranges(*this, "causal_conv");
  if (text_vocabulary == 0) {
    throw ConfigError("causal_conv: a vocabulary of 0 tokens; it must be known");
  }
  if (positions != PositionScheme::kNone && positions != PositionScheme::kSinusoidal &&
      positions != PositionScheme::kLearned) {
    throw ConfigError(
        "causal_conv: positions '{}' belong to attention, of which there is none; use none, "
        "sinusoidal or learned",
        name_of(positions));
  }
  if (!(dropout >= 0.0f && dropout < 1.0f)) {
    throw ConfigError("causal_conv: a dropout of {} is not within [0, 1)", dropout);
  }
}

ModelKind causal_conv_kind() {
  ModelKind kind = language_model_kind_of<CausalConvLanguageModel, CausalConvConfig>(
      "causal_conv", "convolutional language model",
      {{"conv-lm", "8 dilated convolutions, 256 wide, that see 256 tokens (WaveNet)",
        [] { return AnyConfig(CausalConvConfig()); }}});
  kind.make_encoder = encoder_of<CausalConvEncoder, CausalConvConfig>;
  return kind;
}

// Gates halve what they let through at first: four times the variance makes up for that.
CausalConvLayer::CausalConvLayer(const CausalConvConfig& c, size_t layer, Rng& rng)
    : dropout(c.dropout) {
  conv = Conv1d({.in = c.width,
                 .out = 2 * c.width,
                 .kernel = c.kernel,
                 .dilation = c.dilation(layer),
                 .padding = ConvPadding::kCausal,
                 .init = Init::kZeros},
                rng);
  const float seen = (1.0f - c.dropout) / static_cast<float>(c.kernel * c.width);
  initialize(conv.weight, Init::kNormal, rng.stream(), 2.0f * std::sqrt(seen));
  if (layer + 1 < c.layers) residual = Linear(c.width, c.width, rng);
  skip = Linear(c.width, c.skip_width, rng, {.bias = layer == 0});  // one for the whole sum
}

CausalConvLayer::Rows CausalConvLayer::after(const Rows& rows, const Tensor& z) const {
  constexpr float kSqrtHalf = std::numbers::sqrt2_v<float> / 2;
  Rows next{rows.x, skip(z)};
  if (rows.skips.defined()) next.skips = add(next.skips, rows.skips);
  if (residual.weight.defined()) next.x = scale(add(rows.x, residual(z)), kSqrtHalf);
  return next;
}

CausalConvLayer::Rows CausalConvLayer::operator()(const Rows& rows, const Packing& packing) const {
  return after(rows, glu(conv(attend::dropout(rows.x, dropout), packing).rows));
}

CausalConvLayer::Rows CausalConvLayer::step(const Rows& rows, const Packing& packing,
                                            ConvWindow& window) const {
  return after(rows, glu(window.advance(rows.x, packing)));
}

void CausalConvLayer::visit(Visitor& v) {
  v("conv", conv);
  v("residual", residual);
  v("skip", skip);
}

CausalConvEncoder::CausalConvEncoder(const CausalConvConfig& c, Rng& rng) : config(c) {
  embedding = PlacedEmbedding(c.placed(), Embedding(c.text_vocabulary, c.width, rng), rng);
  for (size_t i = 0; i < c.layers; ++i) convolutions.emplace_back(c, i, rng);
  head = Linear(c.skip_width, c.width, rng);
}

Tensor CausalConvEncoder::last(const Tensor& skips) const {
  const Activation f = function_of(config.activation);
  const float share = 1.0f / std::sqrt(static_cast<float>(config.layers));
  return head(activate(f, scale(skips, share)), f);
}

Tensor CausalConvEncoder::rows(const Tokens& tokens) const {
  CausalConvLayer::Rows rows{embedding(tokens.ids, tokens.packing), {}};
  for (size_t i = 0; i < convolutions.size(); ++i) {
    rows = convolutions[i](rows, tokens.packing);
    tap_rows("layers", i, rows.skips);
  }
  return last(rows.skips);
}

void CausalConvEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", convolutions);
  v("head", head);
}

CausalConvLanguageModel::CausalConvLanguageModel(const CausalConvConfig& config, Rng& rng)
    : config_(config) {
  config.check();
  encoder_ = CausalConvEncoder(config, rng);
  output_ = OutputLayer(encoder_.embedding.table, config.width, config.tied, rng);
}

Forced CausalConvLanguageModel::force(const Batch& inputs, const Tokens& written) const {
  const Tensor x = rows_after_prefixes(encoder_.rows(written), written.packing, inputs);
  return {output_(dropout(x, config_.dropout))};
}

Column CausalConvLanguageModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens("text");
  return {encoder_.rows(text), text.packing};
}

struct CausalConvLanguageModel::Writing : Generator::State {
  const CausalConvLanguageModel& model;
  Hypotheses hypotheses;
  std::vector<ConvWindow> windows;  // of each layer
  ReadTokens read;

  explicit Writing(const CausalConvLanguageModel& of) : model(of) {
    for (size_t i = 0; i < of.encoder_.convolutions.size(); ++i) {
      const Conv1d& conv = of.encoder_.convolutions[i].conv;
      windows.emplace_back(conv, of.packed_.empty() ? packed_taps(conv) : of.packed_[i]);
    }
  }

  size_t size() const override { return hypotheses.size(); }
  std::vector<int32_t> lengths() const override {
    return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
  }

  void admit(const Batch& inputs) override {
    const NoGrad no_grad;
    hypotheses.admit(inputs.size());
    for (ConvWindow& window : windows) window.admit(inputs.size());
    read.admit(inputs.size());
  }

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    hypotheses.retire();
    for (ConvWindow& window : windows) window.reorder(parents);
    read.reorder(parents);
  }

  // Windows hold the last rows only; those that the next one sees are made once more.
  void rewind(std::span<const int32_t> to) override {
    if (std::ranges::equal(to, hypotheses.lengths())) return;
    hypotheses.rewind(to);
    const Tokens kept = read.rewind(to);
    read.add(kept);
    TokenLines seen;
    std::vector<int32_t> first;
    for (size_t i = 0; i < kept.count(); ++i) {
      const auto ids = kept.sequence(i);
      const size_t count = std::min(ids.size(), model.config_.reach());
      seen.add(ids.last(count));
      first.push_back(static_cast<int32_t>(ids.size() - count));
    }
    for (ConvWindow& window : windows) window.clear();
    model.advance(*this, seen.tokens(), first);
  }
};

std::unique_ptr<Generator::State> CausalConvLanguageModel::start() const {
  const NoGrad no_grad;
  return std::make_unique<Writing>(*this);
}

Tensor CausalConvLanguageModel::step(State& state, const Tokens& tokens, StepRows which) const {
  const NoGrad no_grad;
  check_step(state, tokens);
  auto& writing = dynamic_cast<Writing&>(state);
  const Tensor skips = advance(writing, tokens, writing.hypotheses.lengths());
  writing.hypotheses.advance(tokens.packing);
  writing.read.add(tokens);
  return output_(encoder_.last(wanted_rows(skips, tokens.packing, which)));
}

Tensor CausalConvLanguageModel::advance(Writing& writing, const Tokens& tokens,
                                        std::span<const int32_t> first) const {
  const NoGrad no_grad;
  CausalConvLayer::Rows rows{encoder_.embedding(tokens.ids, tokens.packing, first), {}};
  for (size_t i = 0; i < encoder_.convolutions.size(); ++i) {
    rows = encoder_.convolutions[i].step(rows, tokens.packing, writing.windows[i]);
  }
  return rows.skips;
}

Signature CausalConvLanguageModel::signature() const {
  return {{{.name = "text", .written = true, .positions = encoder_.positions()}}, {}};
}

void CausalConvLanguageModel::pack() {
  const NoGrad no_grad;
  pack_weights(*this);
  packed_.clear();
  for (const CausalConvLayer& layer : encoder_.convolutions) {
    packed_.push_back(packed_taps(layer.conv));
  }
}

void CausalConvLanguageModel::visit(Visitor& v) {
  encoder_.visit(v);
  v("output", output_);
}

}  // namespace attend
