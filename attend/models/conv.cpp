#include "attend/models/conv.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/base/error.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/glu.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr float kSqrtHalf = std::numbers::sqrt2_v<float> / 2;

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

ConvConfig ConvConfig::preset(std::string_view name) {
  if (name != "conv") throw ConfigError("unknown preset '{}' of conv; there is: conv", name);
  return {};
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
  for (size_t i = 0; i < c.encoder_layers; ++i) layers.emplace_back(c, rng);
  out = Linear(c.hidden, c.width, rng);
}

ConvEncoder::ConvEncoder(const ConvConfig& c, Rng& rng)
    : ConvEncoder(c, PlacedEmbedding(c.placed(), Embedding(c.source_vocabulary, c.width, rng), rng),
                  rng) {}

ConvEncoder::Output ConvEncoder::operator()(const Tokens& sources) const {
  const Tensor embedded = embedding(sources.ids, sources.packing);
  Tensor x = in(embedded);
  for (const ConvEncoderLayer& layer : layers) x = layer(x, sources.packing);
  return {embedded, out(x)};
}

Tensor ConvEncoder::rows(const Tokens& sources) const {
  const auto [embedded, encoded] = (*this)(sources);
  return balanced_sum(encoded, embedded);
}

void ConvEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("in", in);
  v("layers", layers);
  v("out", out);
}

ConvWindow::ConvWindow(const Conv1dConfig& conv, size_t hypotheses)
    : reach((conv.kernel - 1) * conv.dilation),
      rows(Tensor::zeros({hypotheses, reach * conv.in})) {}

Tensor ConvWindow::advance(const Conv1dConfig& conv, const Tensor& x, size_t t) {
  const size_t count = x.rows(), width = conv.in, last = conv.kernel - 1;
  Tensor seen = Tensor::empty({count * conv.kernel, width});
  for (size_t i = 0; i < count; ++i) {
    const float* row = x.data() + i * x.stride();
    float* kept = rows.data() + i * rows.width();
    float* to = seen.data() + i * conv.kernel * width;
    for (size_t tap = 0; tap < last; ++tap) {
      const size_t place = (t + tap * conv.dilation) % reach;
      std::copy_n(kept + place * width, width, to + tap * width);
    }
    std::copy_n(row, width, to + last * width);
    if (reach > 0) std::copy_n(row, width, kept + t % reach * width);
  }
  return seen;
}

void ConvWindow::reorder(std::span<const size_t> parents) {
  if (reach == 0) return;
  const std::vector<int32_t> ids(parents.begin(), parents.end());
  rows = gather_rows(rows, Tensor::ids(ids, {ids.size()}));
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
  const Tensor seen = window.advance(conv.config, x, target.written);
  const Packing windows = Packing::even(x.rows(), conv.config.kernel);
  return look(x, glu(conv1d(seen, windows, conv.weight, conv.bias).rows), target, source);
}

Tensor ConvDecoderLayer::look(const Tensor& x, const Tensor& h, const ConvTarget& target,
                              const ConvSource& source) const {
  AttentionOptions
      options;  // a scaled dot, for embeddings of variance 1 where the paper's have .01
  options.queries = target.packing;
  options.keys = source.packing;
  options.name = name;
  options.earlier.queries.assign(target.packing.count(), static_cast<int32_t>(target.written));
  const Tensor q = balanced_sum(query(h), target.embedded);
  const Tensor c = context(attention(q, source.keys, source.values, options).output);
  return balanced_sum(x, balanced_sum(h, c));
}

void ConvDecoderLayer::visit(Visitor& v) {
  v("conv", conv);
  v("query", query);
  v("context", context);
}

struct ConvSeq2Seq::Decoding : Generator::State {
  Hypotheses hypotheses;
  ConvSource source;
  std::vector<ConvWindow> windows;  // of each layer
  size_t written = 0;

  explicit Decoding(ConvSource encoded)
      : hypotheses(encoded.packing.count()), source(std::move(encoded)) {}

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    for (ConvWindow& window : windows) window.reorder(parents);
  }
};

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

ConvSource ConvSeq2Seq::encode(const Tokens& sources) const {
  const auto [embedded, encoded] = encoder_(sources);
  return {encoded, balanced_values(encoded, embedded, sources.packing), sources.packing};
}

Tensor ConvSeq2Seq::output(const Tensor& x) const {
  const Tensor y = dropout(decoder_out_(x), config_.dropout);
  return config_.tying == Tying::kNone ? output_(y) : embedding_.table.tied_output()(y);
}

Tensor ConvSeq2Seq::logits(const Tokens& sources, const Tokens& inputs) const {
  const ConvSource source = encode(sources);
  const ConvTarget target{embedding_(inputs.ids, inputs.packing), inputs.packing};
  Tensor x = decoder_in_(target.embedded);
  for (const ConvDecoderLayer& layer : decoder_) x = layer(x, target, source);
  return output(x);
}

std::unique_ptr<Generator::State> ConvSeq2Seq::start(const Tokens& sources) const {
  const NoGrad no_grad;
  auto state = std::make_unique<Decoding>(encode(sources));
  for (const ConvDecoderLayer& layer : decoder_) {
    state->windows.emplace_back(layer.conv.config, sources.packing.count());
  }
  return state;
}

Tensor ConvSeq2Seq::step(State& state, std::span<const int32_t> tokens) const {
  const NoGrad no_grad;
  auto& decoding = dynamic_cast<Decoding&>(state);
  const Packing one_each = Packing::even(tokens.size(), 1);
  const Tensor ids = Tensor::ids(tokens, {tokens.size()});
  const size_t written = decoding.written++;
  const ConvTarget target{embedding_(ids, one_each, written), decoding.hypotheses.by_source(),
                          written};
  Tensor x = decoder_in_(target.embedded);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    x = decoder_[i].step(x, target, decoding.source, decoding.windows[i]);
  }
  return output(x);
}

std::vector<AttentionLayer> ConvSeq2Seq::attention_layers() const {
  std::vector<AttentionLayer> all(decoder_.size());
  std::ranges::transform(decoder_, all.begin(), [](const ConvDecoderLayer& layer) {
    return AttentionLayer{layer.name, AttentionPart::kCross};
  });
  return all;
}

void ConvSeq2Seq::visit(Visitor& v) {
  v("target_embedding", embedding_.table);
  v("source_embedding", encoder_.embedding.table);
  v("source_positions", encoder_.embedding.learned);
  v("target_positions", embedding_.learned);
  v("encoder_in", encoder_.in);
  v("encoder", encoder_.layers);
  v("encoder_out", encoder_.out);
  v("decoder_in", decoder_in_);
  v("decoder", decoder_);
  v("decoder_out", decoder_out_);
  v("output", output_);
}

}  // namespace attend
