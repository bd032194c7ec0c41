#include "attend/models/conv.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/base/error.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/glu.h"
#include "attend/ops/sequences.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr float kSqrtHalf = std::numbers::sqrt2_v<float> / 2;

// The sources of both.
ConvSource together(const ConvSource& a, const ConvSource& b) {
  return {concat({a.keys, b.keys}, 0), concat({a.values, b.values}, 0),
          a.packing.followed_by(b.packing)};
}

ConvSource picked(const ConvSource& source, std::span<const size_t> which) {
  return {pick_sequences(source.keys, source.packing, which),
          pick_sequences(source.values, source.packing, which), source.packing.pick(which)};
}

Tensor balanced_sum(const Tensor& a, const Tensor& b) { return scale(add(a, b), kSqrtHalf); }

// A convolution to a GLU, whose gates halve it at first: four times the variance makes up for that.
Conv1d gated_conv(const ConvConfig& c, ConvPadding padding, size_t dilation, Rng& rng) {
  Conv1d conv({.in = c.hidden,
               .out = 2 * c.hidden,
               .kernel = c.kernel,
               .dilation = dilation,
               .padding = padding,
               .init = Init::kZeros},
              rng);
  const float seen = (1.0f - c.dropout) / static_cast<float>(c.kernel * c.hidden);
  initialize(conv.weight, Init::kNormal, rng.stream(), 2.0f * std::sqrt(seen));
  return conv;
}

// z + e, the encoder's output with the embeddings, as attention sums it up. A mean of m rows has
// 1/m of their variance, which sqrt(m) restores.
Tensor balanced_values(const Tensor& z, const Tensor& e, const Packing& packing) {
  const Tensor factors = Tensor::empty(z.shape());
  for (size_t s = 0; s < packing.count(); ++s) {
    const size_t count = packing.length(s);
    std::ranges::fill(factors.slice_rows(packing.begin(s), count).span(),
                      kSqrtHalf * std::sqrt(static_cast<float>(count)));
  }
  return multiply(add(z, e), factors);
}

}  // namespace

size_t ConvConfig::reach() const {
  size_t rows = 0;
  for (size_t i = 0; i < decoder_layers; ++i) rows += (kernel - 1) * dilation(i);
  return rows;
}

ModelKind conv_kind() {
  ModelKind kind = kind_of<ConvSeq2Seq, ConvConfig>(
      "conv", "convolutional encoder-decoder with attention",
      {{"conv", "4 + 4 gated convolutions, 256 wide (Gehring et al., 2017)",
        [] { return AnyConfig(ConvConfig()); }}});
  kind.make_encoder = encoder_of<ConvEncoder, ConvConfig>;
  return kind;
}

void ConvConfig::check() const {
  check_ranges(*this, "conv");
  if (source_vocabulary == 0 || target_vocabulary == 0) {
    throw ConfigError("conv: vocabularies of {} and {} tokens; both must be known",
                      source_vocabulary, target_vocabulary);
  }
  if (positions != PositionScheme::kNone && positions != PositionScheme::kSinusoidal &&
      positions != PositionScheme::kLearned) {
    throw ConfigError(
        "conv: positions '{}' belong to attention of a sequence to itself, of which there is none; "
        "use none, sinusoidal or learned",
        name_of(positions));
  }
  if (tying == Tying::kAll && source_vocabulary != target_vocabulary) {
    throw ConfigError(
        "conv: tying 'all' needs one vocabulary, but there are {} and {} tokens; use a joint "
        "tokenizer, or tying 'decoder'",
        source_vocabulary, target_vocabulary);
  }
  if (!(dropout >= 0.0f && dropout < 1.0f)) {
    throw ConfigError("conv: a dropout of {} is not within [0, 1)", dropout);
  }
}

ConvEncoderLayer::ConvEncoderLayer(const ConvConfig& config, Rng& rng)
    : conv(gated_conv(config, ConvPadding::kSame, 1, rng)), dropout(config.dropout) {}

Tensor ConvEncoderLayer::operator()(const Tensor& x, const Packing& packing) const {
  return balanced_sum(x, glu(conv(attend::dropout(x, dropout), packing).rows));
}

ConvEncoder::ConvEncoder(const ConvConfig& c, PlacedEmbedding tokens, Rng& rng)
    : config(c), embedding(std::move(tokens)) {
  in = Linear(c.width, c.hidden, rng);
  for (size_t i = 0; i < c.encoder_layers; ++i) convolutions.emplace_back(c, rng);
  out = Linear(c.hidden, c.width, rng);
}

ConvEncoder::ConvEncoder(const ConvConfig& c, Rng& rng)
    : ConvEncoder(c, PlacedEmbedding(c.placed(), Embedding(c.source_vocabulary, c.width, rng), rng),
                  rng) {}

ConvEncoder::Output ConvEncoder::operator()(const Tokens& sources) const {
  const Tensor embedded = embedding(sources.ids, sources.packing);
  Tensor x = in(embedded);
  for (const ConvEncoderLayer& layer : convolutions) x = layer(x, sources.packing);
  return {embedded, out(x)};
}

Tensor ConvEncoder::rows(const Tokens& tokens) const {
  const auto [embedded, encoded] = (*this)(tokens);
  return balanced_sum(encoded, embedded);
}

void ConvEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("in", in);
  v("layers", convolutions);
  v("out", out);
}

ConvDecoderLayer::ConvDecoderLayer(const ConvConfig& config, size_t layer, Rng& rng)
    : name("decoder." + std::to_string(layer) + ".attention"),
      conv(gated_conv(config, ConvPadding::kCausal, config.dilation(layer), rng)),
      query(config.hidden, config.width, rng),
      context(config.width, config.hidden, rng),
      dropout(config.dropout) {}

Tensor ConvDecoderLayer::operator()(const Tensor& x, const ConvTarget& target,
                                    const ConvSource& source) const {
  return look(x, glu(conv(attend::dropout(x, dropout), target.packing).rows), target, source);
}

Tensor ConvDecoderLayer::step(const Tensor& x, const ConvTarget& target, const ConvSource& source,
                              ConvWindow& window) const {
  return look(x, glu(window.advance(x, target.packing)), target, source);
}

Tensor ConvDecoderLayer::look(const Tensor& x, const Tensor& h, const ConvTarget& target,
                              const ConvSource& source) const {
  AttentionOptions
      options;  // a scaled dot, for embeddings of variance 1 where the paper's have .01
  options.queries = target.by_record;
  options.keys = source.packing;
  options.name = name;
  options.earlier.queries = target.earlier;
  const Tensor q = balanced_sum(query(h), target.embedded);
  const Tensor c = context(attention(q, source.keys, source.values, options).output);
  return balanced_sum(x, balanced_sum(h, c));
}

void ConvDecoderLayer::visit(Visitor& v) {
  v("conv", conv);
  v("query", query);
  v("context", context);
}

ConvSeq2Seq::ConvSeq2Seq(const ConvConfig& config, Rng& rng) : config_(config) {
  config.check();
  const size_t width = config.width, hidden = config.hidden;
  const Embedding target(config.target_vocabulary, width, rng);
  const Embedding source =
      config.tying == Tying::kAll ? target : Embedding(config.source_vocabulary, width, rng);
  const PlacedEmbedding sources(config.placed(), source, rng);
  embedding_ = sources.of(target, rng);
  encoder_ = ConvEncoder(config, sources, rng);
  decoder_in_ = Linear(width, hidden, rng);
  for (size_t i = 0; i < config.decoder_layers; ++i) decoder_.emplace_back(config, i, rng);
  decoder_out_ = Linear(hidden, width, rng);
  if (config.tying == Tying::kNone) {
    output_ = Linear(width, config.target_vocabulary, rng, {.bias = false});
  }
}

ConvSource ConvSeq2Seq::read(const Tokens& sources) const {
  const auto [embedded, encoded] = encoder_(sources);
  return {encoded, balanced_values(encoded, embedded, sources.packing), sources.packing};
}

Column ConvSeq2Seq::encode(const Batch& inputs) const {
  const Tokens sources = inputs.tokens("source");
  return {encoder_.rows(sources), sources.packing};
}

Tensor ConvSeq2Seq::output(const Tensor& x) const {
  const Tensor y = dropout(decoder_out_(x), config_.dropout);
  return config_.tying == Tying::kNone ? output_(y) : embedding_.table.tied_output()(y);
}

Forced ConvSeq2Seq::force(const Batch& inputs, const Tokens& written) const {
  const ConvSource source = read(inputs.tokens("source"));
  const ConvTarget target{
      embedding_(written.ids, written.packing), written.packing, written.packing, {}};
  Tensor x = decoder_in_(target.embedded);
  for (const ConvDecoderLayer& layer : decoder_) x = layer(x, target, source);
  return {output(x)};
}

struct ConvSeq2Seq::Decoding : Generator::State {
  const ConvSeq2Seq& model;
  Hypotheses hypotheses;
  ConvSource source;
  std::vector<ConvWindow> windows;  // of each layer
  ReadTokens read;

  explicit Decoding(const ConvSeq2Seq& of) : model(of) {
    for (const ConvDecoderLayer& layer : of.decoder_) {
      windows.emplace_back(layer.conv, packed_taps(layer.conv));
    }
  }

  size_t size() const override { return hypotheses.size(); }
  std::vector<int32_t> lengths() const override {
    return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
  }

  void admit(const Batch& inputs) override {
    const NoGrad no_grad;
    const ConvSource more = model.read(inputs.tokens("source"));
    hypotheses.admit(inputs.size());
    source = source.keys.defined() ? together(source, more) : more;
    for (ConvWindow& window : windows) window.admit(inputs.size());
    read.admit(inputs.size());
  }

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    if (const auto kept = hypotheses.retire()) source = picked(source, *kept);
    for (ConvWindow& window : windows) window.reorder(parents);
    read.reorder(parents);
  }

  // Windows hold the last rows only.
  void rewind(std::span<const int32_t> to) override {
    hypotheses.rewind(to);
    const Tokens again = read.rewind(to);
    hypotheses.rewind(std::vector<int32_t>(to.size(), 0));
    for (ConvWindow& window : windows) window.clear();
    model.advance(*this, again);
  }
};

std::unique_ptr<Generator::State> ConvSeq2Seq::start() const {
  const NoGrad no_grad;
  return std::make_unique<Decoding>(*this);
}

Tensor ConvSeq2Seq::step(State& state, const Tokens& tokens, StepRows which) const {
  check_step(state, tokens);
  const Tensor x = advance(dynamic_cast<Decoding&>(state), tokens);
  const NoGrad no_grad;
  return output(wanted_rows(x, tokens.packing, which));
}

Tensor ConvSeq2Seq::advance(Decoding& decoding, const Tokens& tokens) const {
  const NoGrad no_grad;
  Hypotheses& hypotheses = decoding.hypotheses;
  const ConvTarget target{embedding_(tokens.ids, tokens.packing, hypotheses.lengths()),
                          tokens.packing, hypotheses.by_record(tokens.packing),
                          hypotheses.record_lengths()};
  hypotheses.advance(tokens.packing);
  decoding.read.add(tokens);
  Tensor x = decoder_in_(target.embedded);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    x = decoder_[i].step(x, target, decoding.source, decoding.windows[i]);
  }
  return x;
}

Signature ConvSeq2Seq::signature() const {
  const std::optional<size_t> places = config_.placed().positions();
  Signature signature{{{.name = "source", .framing = {.end = true}, .positions = places},
                       {.name = "target", .written = true, .positions = places}},
                      {}};
  for (const ConvDecoderLayer& layer : decoder_) {
    signature.layers.push_back({layer.name, "target", "source"});
  }
  return signature;
}

void ConvSeq2Seq::visit(Visitor& v) {
  v("target_embedding", embedding_.table);
  v("source_embedding", encoder_.embedding.table);
  v("source_positions", encoder_.embedding.learned);
  v("target_positions", embedding_.learned);
  v("encoder_in", encoder_.in);
  v("encoder", encoder_.convolutions);
  v("encoder_out", encoder_.out);
  v("decoder_in", decoder_in_);
  v("decoder", decoder_);
  v("decoder_out", decoder_out_);
  v("output", output_);
}

}  // namespace attend
