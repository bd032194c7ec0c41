#include "attend/models/transformer.h"

#include <algorithm>
#include <iterator>

#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/shape.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<NormPlace> kNormPlaces[] = {{NormPlace::kPre, "pre"}, {NormPlace::kPost, "post"}};

constexpr Named<FeedForwardKind> kFeedForwards[] = {{FeedForwardKind::kRelu, "relu"},
                                                    {FeedForwardKind::kGelu, "gelu"},
                                                    {FeedForwardKind::kSwiglu, "swiglu"}};

constexpr Named<Tying> kTyings[] = {
    {Tying::kNone, "none"}, {Tying::kDecoder, "decoder"}, {Tying::kAll, "all"}};

constexpr Named<CrossSource> kCrossSources[] = {
    {CrossSource::kLast, "last"}, {CrossSource::kSame, "same"}, {CrossSource::kMix, "mix"}};

MultiHeadConfig attention_of(const TransformerConfig& config, bool causal) {
  MultiHeadConfig c;
  c.width = config.width;
  c.heads = config.heads;
  c.kv_heads = config.kv_heads;
  c.dropout = config.attention_dropout;
  c.head_width = config.head_width;
  c.score = config.score;
  c.weighting = config.weighting;
  c.qk_norm = config.qk_norm;
  c.sinks = config.sinks;
  c.softcap = config.softcap;
  if (config.window > 0) c.window = static_cast<int64_t>(config.window);
  c.positions = attention_positions(config.positions);
  c.causal = causal;
  return c;
}

// Distances between the words of two languages mean nothing.
MultiHeadConfig cross_of(const TransformerConfig& config) {
  MultiHeadConfig c = attention_of(config, false);
  c.positions = Positions::kNone;
  c.window = std::nullopt;
  return c;
}

// Training goes through the weights, and keys of self-attention have no order to be walked in.
void check_weighting(const TransformerConfig& config) {
  static constexpr Weighting kRefused[] = {Weighting::kHardArgmax, Weighting::kHardSample,
                                           Weighting::kMonotonic, Weighting::kMonotonicHard};
  if (std::ranges::find(kRefused, config.weighting) != std::end(kRefused)) {
    throw ConfigError(
        "transformer: weighting {} has no gradient, or goes from key to key; use softmax, "
        "sparsemax, entmax15, top_k, straight_through, sigmoid, relu or identity",
        name_of(config.weighting));
  }
  if (config.sinks && config.weighting != Weighting::kSoftmax) {
    throw ConfigError("transformer: sinks are part of a softmax, but the weighting is {}",
                      name_of(config.weighting));
  }
  if (config.softcap < 0.0f) {
    throw ConfigError("transformer: a softcap of {}; 0 is none", config.softcap);
  }
}

MultiHeadAttention named(const MultiHeadConfig& config, const std::string& name, Rng& rng) {
  MultiHeadAttention layer(config, rng);
  layer.name = name;
  return layer;
}

}  // namespace

NormPlace norm_place_from_name(std::string_view name) {
  return value_from_name(kNormPlaces, "place of norms", name);
}
std::string_view name_of(NormPlace place) { return name_from_value(kNormPlaces, place); }
FeedForwardKind feed_forward_from_name(std::string_view name) {
  return value_from_name(kFeedForwards, "activation", name);
}
std::string_view name_of(FeedForwardKind kind) { return name_from_value(kFeedForwards, kind); }
Tying tying_from_name(std::string_view name) { return value_from_name(kTyings, "tying", name); }
std::string_view name_of(Tying tying) { return name_from_value(kTyings, tying); }
CrossSource cross_source_from_name(std::string_view name) {
  return value_from_name(kCrossSources, "source of cross-attention", name);
}
std::string_view name_of(CrossSource source) { return name_from_value(kCrossSources, source); }

TransformerConfig TransformerConfig::preset(std::string_view name) {
  TransformerConfig c;
  if (name == "tiny") {  // as for small corpora of translated captions
    c.width = 128, c.heads = 4, c.feed_forward = 256;
    c.encoder_layers = c.decoder_layers = 4;
    c.dropout = 0.3f;
  } else if (name == "small") {
    c.width = 256, c.heads = 4, c.feed_forward = 1024;
    c.encoder_layers = c.decoder_layers = 3;
  } else if (name == "base") {
    c.width = 512, c.heads = 8, c.feed_forward = 2048;
    c.encoder_layers = c.decoder_layers = 6;
    c.norm = NormPlace::kPost;
  } else {
    throw ConfigError("unknown preset '{}' of the transformer; there are: tiny, small, base", name);
  }
  return c;
}

void TransformerConfig::check() const {
  check_ranges(*this, "transformer");
  if (source_vocabulary == 0 || target_vocabulary == 0) {
    throw ConfigError("transformer: vocabularies of {} and {} tokens; both must be known",
                      source_vocabulary, target_vocabulary);
  }
  if (tying == Tying::kAll && source_vocabulary != target_vocabulary) {
    throw ConfigError(
        "transformer: tying 'all' needs one vocabulary, but there are {} and {} tokens; use a "
        "joint tokenizer, or tying 'decoder'",
        source_vocabulary, target_vocabulary);
  }
  if (cross == CrossSource::kSame && encoder_layers != decoder_layers) {
    throw ConfigError(
        "transformer: cross 'same' needs as many encoder layers ({}) as decoder layers ({})",
        encoder_layers, decoder_layers);
  }
  check_weighting(*this);
}

FeedForward::FeedForward(const TransformerConfig& config, Rng& rng)
    : kind(config.activation),
      dropout(config.activation_dropout),
      in(config.width, config.feed_forward, rng),
      out(config.feed_forward, config.width, rng) {
  if (kind == FeedForwardKind::kSwiglu) gate = Linear(config.width, config.feed_forward, rng);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  if (kind == FeedForwardKind::kSwiglu) {
    return out(attend::dropout(multiply(gate(x, Activation::kSilu), in(x)), dropout));
  }
  const Activation f = kind == FeedForwardKind::kGelu ? Activation::kGelu : Activation::kRelu;
  return out(attend::dropout(in(x, f), dropout));
}

void FeedForward::visit(Visitor& v) {
  v("in", in);
  v("gate", gate);
  v("out", out);
}

EncoderLayer::EncoderLayer(const TransformerConfig& config, const std::string& name, Rng& rng)
    : self_norm(config),
      feed_forward_norm(config),
      self(named(attention_of(config, false), name + ".self", rng)),
      feed_forward(config, rng) {}

Tensor EncoderLayer::operator()(const Tensor& x, const Packing& packing) const {
  const Tensor y = self_norm(x, [&](const Tensor& rows) { return self(rows, packing); });
  return feed_forward_norm(y, feed_forward);
}

void EncoderLayer::visit(Visitor& v) {
  v("self_norm", self_norm);
  v("self", self);
  v("feed_forward_norm", feed_forward_norm);
  v("feed_forward", feed_forward);
}

TransformerEncoder::TransformerEncoder(const TransformerConfig& c, PlacedEmbedding tokens, Rng& rng)
    : config(c), embedding(std::move(tokens)) {
  layers.reserve(c.encoder_layers);
  for (size_t i = 0; i < c.encoder_layers; ++i) {
    layers.emplace_back(c, "encoder." + std::to_string(i), rng);
  }
  if (c.norm == NormPlace::kPre) norm = LayerNorm(c.width);
}

TransformerEncoder::TransformerEncoder(const TransformerConfig& c, Rng& rng)
    : TransformerEncoder(
          c, PlacedEmbedding(c.placed(), Embedding(c.source_vocabulary, c.width, rng), rng), rng) {}

std::vector<Tensor> TransformerEncoder::operator()(const Tokens& sources) const {
  std::vector<Tensor> made = {embedding(sources.ids, sources.packing)};
  for (const EncoderLayer& layer : layers) made.push_back(layer(made.back(), sources.packing));
  if (config.norm == NormPlace::kPost) return made;
  for (Tensor& rows : made) {
    if (config.cross != CrossSource::kLast || &rows == &made.back()) rows = norm(rows);
  }
  return made;
}

std::vector<AttentionLayer> TransformerEncoder::attention_layers() const {
  std::vector<AttentionLayer> all(layers.size());
  std::ranges::transform(layers, all.begin(), [&](const EncoderLayer& layer) {
    return AttentionLayer{layer.self.name, AttentionPart::kEncoder, config.heads};
  });
  return all;
}

void TransformerEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", layers);
  v("norm", norm);
}

DecoderLayer::DecoderLayer(const TransformerConfig& config, const std::string& name, Rng& rng)
    : self_norm(config),
      cross_norm(config),
      feed_forward_norm(config),
      self(named(attention_of(config, true), name + ".self", rng)),
      cross(named(cross_of(config), name + ".cross", rng)),
      feed_forward(config, rng) {}

Tensor DecoderLayer::operator()(const Tensor& x, const Packing& packing, const Tensor& source,
                                const Packing& keys) const {
  Tensor y = self_norm(x, [&](const Tensor& rows) { return self(rows, packing); });
  y = cross_norm(y, [&](const Tensor& rows) { return cross(rows, packing, source, keys); });
  return feed_forward_norm(y, feed_forward);
}

Tensor DecoderLayer::step(const Tensor& x, const Hypotheses& hypotheses, Memory& memory) const {
  const Packing one_each = Packing::even(x.rows(), 1);
  Tensor y = self_norm(x, [&](const Tensor& row) { return self.step(row, one_each, memory.self); });
  y = cross_norm(
      y, [&](const Tensor& row) { return cross.look(row, hypotheses.by_source(), memory.source); });
  return feed_forward_norm(y, feed_forward);
}

void DecoderLayer::visit(Visitor& v) {
  v("self_norm", self_norm);
  v("self", self);
  v("cross_norm", cross_norm);
  v("cross", cross);
  v("feed_forward_norm", feed_forward_norm);
  v("feed_forward", feed_forward);
}

struct Transformer::Decoding : Generator::State {
  Hypotheses hypotheses;
  std::vector<DecoderLayer::Memory> layers;
  size_t written = 0;

  explicit Decoding(size_t sources) : hypotheses(sources) {}

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    parallel_chunks(layers.size(), [&](size_t i) { layers[i].self.reorder(parents); });
  }
};

Transformer::Transformer(const TransformerConfig& config, Rng& rng) : config_(config) {
  config.check();
  const Embedding target(config.target_vocabulary, config.width, rng);
  const Embedding source =
      config.tying == Tying::kAll ? target : Embedding(config.source_vocabulary, config.width, rng);
  const PlacedEmbedding sources(config.placed(), source, rng);
  embedding_ = sources.of(target, rng);
  encoder_ = TransformerEncoder(config, sources, rng);
  decoder_.reserve(config.decoder_layers);
  for (size_t i = 0; i < config.decoder_layers; ++i) {
    decoder_.emplace_back(config, "decoder." + std::to_string(i), rng);
  }
  if (config.norm == NormPlace::kPre) decoder_norm_ = LayerNorm(config.width);
  if (config.cross == CrossSource::kMix) {
    mixture_ = parameter({config.decoder_layers, config.encoder_layers + 1}, Init::kZeros, rng);
  }
  if (config.tying == Tying::kNone) {
    output_ = Linear(config.width, config.target_vocabulary, rng, {.bias = false});
  }
}

std::vector<Tensor> Transformer::encode(const Tokens& sources) const {
  const std::vector<Tensor> layers = encoder_(sources);
  std::vector<Tensor> chosen(config_.decoder_layers, layers.back());
  if (config_.cross == CrossSource::kSame) chosen.assign(layers.begin() + 1, layers.end());
  if (config_.cross == CrossSource::kMix) {
    const size_t count = layers.size();
    std::vector<Tensor> flat(count);
    std::ranges::transform(layers, flat.begin(), [](const Tensor& layer) {
      return reshape(layer, {1, layer.size()});
    });
    const Tensor mixed = matmul(softmax(mixture_), concat(flat, 0));
    for (size_t i = 0; i < chosen.size(); ++i) {
      chosen[i] = reshape(slice(mixed, 0, i, 1), {layers[count - 1].rows(), config_.width});
    }
  }
  return chosen;
}

Tensor Transformer::output(const Tensor& x) const {
  const Tensor y = config_.norm == NormPlace::kPre ? decoder_norm_(x) : x;
  return config_.tying == Tying::kNone ? output_(y) : embedding_.table.tied_output()(y);
}

Tensor Transformer::logits(const Tokens& sources, const Tokens& inputs) const {
  const std::vector<Tensor> source = encode(sources);
  Tensor x = embedding_(inputs.ids, inputs.packing);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    x = decoder_[i](x, inputs.packing, source[i], sources.packing);
  }
  return output(x);
}

std::unique_ptr<Generator::State> Transformer::start(const Tokens& sources) const {
  const NoGrad no_grad;
  auto state = std::make_unique<Decoding>(sources.packing.count());
  const std::vector<Tensor> source = encode(sources);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    state->layers.push_back({decoder_[i].self.cache(sources.packing.count()),
                             decoder_[i].cross.remember(source[i], sources.packing)});
  }
  return state;
}

Tensor Transformer::step(State& state, std::span<const int32_t> tokens) const {
  const NoGrad no_grad;
  auto& decoding = dynamic_cast<Decoding&>(state);
  const Packing one_each = Packing::even(tokens.size(), 1);
  const Tensor ids = Tensor::ids(tokens, {tokens.size()});
  Tensor x = embedding_(ids, one_each, decoding.written++);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    x = decoder_[i].step(x, decoding.hypotheses, decoding.layers[i]);
  }
  return output(x);
}

std::vector<AttentionLayer> Transformer::attention_layers() const {
  std::vector<AttentionLayer> all = encoder_.attention_layers();
  for (const DecoderLayer& layer : decoder_) {
    all.push_back({layer.self.name, AttentionPart::kDecoder, config_.heads});
    all.push_back({layer.cross.name, AttentionPart::kCross, config_.heads});
  }
  return all;
}

void Transformer::visit(Visitor& v) {
  v("target_embedding", embedding_.table);
  v("source_embedding", encoder_.embedding.table);
  v("source_positions", encoder_.embedding.learned);
  v("target_positions", embedding_.learned);
  v("encoder", encoder_.layers);
  v("encoder_norm", encoder_.norm);
  v("decoder", decoder_);
  v("decoder_norm", decoder_norm_);
  v("mixture", mixture_);
  v("output", output_);
}

}  // namespace attend
