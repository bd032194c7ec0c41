#include "attend/models/transformer.h"

#include <algorithm>

#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/nn/pack.h"
#include "attend/nn/row_tap.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/shape.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<Tying> kTyings[] = {
    {Tying::kNone, "none"}, {Tying::kDecoder, "decoder"}, {Tying::kAll, "all"}};

constexpr Named<CrossSource> kCrossSources[] = {
    {CrossSource::kLast, "last"}, {CrossSource::kSame, "same"}, {CrossSource::kMix, "mix"}};

TransformerConfig tiny() {  // as for small corpora of translated captions
  TransformerConfig c;
  c.width = 128, c.heads = 4, c.feed_forward = 256;
  c.encoder_layers = c.decoder_layers = 4;
  c.dropout = 0.3f;
  return c;
}

TransformerConfig transformer_of_size(const ModelSize& size) {
  TransformerConfig c;
  c.width = size.width, c.heads = std::max<size_t>(4, size.width / 64);
  c.feed_forward = size.width < 256 ? 2 * size.width : 4 * size.width;
  c.encoder_layers = c.decoder_layers = size.layers;
  c.dropout = size.dropout;
  c.tying = size.one_vocabulary ? Tying::kAll : Tying::kDecoder;
  return c;
}

TransformerConfig base() {
  TransformerConfig c;
  c.width = 512, c.heads = 8, c.feed_forward = 2048;
  c.encoder_layers = c.decoder_layers = 6;
  c.norm = NormPlace::kPost;
  return c;
}

}  // namespace

std::string_view name_of(Tying tying) { return name_from_value(kTyings, tying); }
std::string_view name_of(CrossSource source) { return name_from_value(kCrossSources, source); }

ModelKind transformer_kind() {
  ModelKind kind = kind_of<Transformer, TransformerConfig>(
      "transformer", "Transformer encoder-decoder",
      {{"tiny", "4 + 4 layers, 128 wide: corpora of some ten thousand short pairs",
        [] { return AnyConfig(tiny()); }},
       {"small", "3 + 3 layers, 256 wide", [] { return AnyConfig(TransformerConfig()); }},
       {"base", "6 + 6 layers, 512 wide, as published (Vaswani et al., 2017)",
        [] { return AnyConfig(base()); }}});
  kind.make_encoder = encoder_of<TransformerEncoder, TransformerConfig>;
  kind.sized = [](const ModelSize& size) { return AnyConfig(transformer_of_size(size)); };
  return kind;
}

BlockConfig TransformerConfig::block() const {
  BlockConfig b;
  b.width = width;
  b.feed_forward = feed_forward;
  b.attention.heads = heads;
  b.attention.kv_heads = kv_heads;
  b.attention.head_width = head_width;
  b.attention.dropout = attention_dropout;
  b.attention.score = score;
  if (!traits_of(score).reads_keys) b.attention.longest_keys = max_length;
  b.attention.weighting = weighting;
  b.attention.qk_norm = qk_norm;
  b.attention.sinks = sinks;
  b.attention.softcap = softcap;
  b.attention.strictly_causal = strictly_causal;
  if (window > 0) b.attention.window = static_cast<int64_t>(window);
  b.attention.positions = attention_positions(positions);
  b.norm_place = norm;
  b.activation = activation;
  b.dropout = dropout;
  b.activation_dropout = activation_dropout;
  return b;
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
  if (position_width >= width) {
    throw ConfigError("transformer: position_width {} leaves nothing of a width of {} for tokens",
                      position_width, width);
  }
  if (position_width > 0 && tying != Tying::kNone) {
    throw ConfigError(
        "transformer: with position_width {} embeddings are {} wide, but the output layer {}; set "
        "tying to none",
        position_width, embedding_width(), width);
  }
  if (cross == CrossSource::kSame && encoder_layers != decoder_layers) {
    throw ConfigError(
        "transformer: cross 'same' needs as many encoder layers ({}) as decoder layers ({})",
        encoder_layers, decoder_layers);
  }
  check_self_attention("transformer", block().attention);
}

TransformerEncoder::TransformerEncoder(const TransformerConfig& c, PlacedEmbedding tokens, Rng& rng)
    : config(c), embedding(std::move(tokens)) {
  blocks.reserve(c.encoder_layers);
  for (size_t i = 0; i < c.encoder_layers; ++i) {
    blocks.emplace_back(c.block(), false, "encoder." + std::to_string(i), rng);
  }
  if (c.norm == NormPlace::kPre) norm = Norm(c.block());
}

TransformerEncoder::TransformerEncoder(const TransformerConfig& c, Rng& rng)
    : TransformerEncoder(
          c,
          PlacedEmbedding(c.placed(), Embedding(c.source_vocabulary, c.embedding_width(), rng),
                          rng),
          rng) {}

std::vector<Tensor> TransformerEncoder::operator()(const Tokens& sources) const {
  std::vector<Tensor> made = {embedding(sources.ids, sources.packing)};
  for (const SelfBlock& block : blocks) made.push_back(block(made.back(), sources.packing));
  if (config.norm == NormPlace::kPost) return made;
  for (Tensor& rows : made) {
    if (config.cross != CrossSource::kLast || &rows == &made.back()) rows = norm(rows);
  }
  return made;
}

std::vector<AttentionLayer> TransformerEncoder::layers(const std::string& sequence) const {
  std::vector<AttentionLayer> all;
  for (const SelfBlock& block : blocks) {
    all.push_back({block.self.name, sequence, sequence, config.heads});
  }
  return all;
}

void TransformerEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("layers", blocks);
  v("norm", norm);
}

Transformer::Transformer(const TransformerConfig& config, Rng& rng) : config_(config) {
  config.check();
  const Embedding target(config.target_vocabulary, config.embedding_width(), rng);
  const Embedding source = config.tying == Tying::kAll
                               ? target
                               : Embedding(config.source_vocabulary, config.embedding_width(), rng);
  const PlacedEmbedding sources(config.placed(), source, rng);
  embedding_ = sources.of(target, rng);
  encoder_ = TransformerEncoder(config, sources, rng);
  decoder_.reserve(config.decoder_layers);
  for (size_t i = 0; i < config.decoder_layers; ++i) {
    decoder_.emplace_back(config.block(), "decoder." + std::to_string(i), rng);
  }
  if (config.norm == NormPlace::kPre) decoder_norm_ = Norm(config.block());
  if (config.cross == CrossSource::kMix) {
    mixture_ = parameter({config.decoder_layers, config.encoder_layers + 1}, Init::kZeros, rng);
  }
  if (config.tying == Tying::kNone) {
    output_ = Linear(config.width, config.target_vocabulary, rng, {.bias = false});
  }
}

std::vector<Tensor> Transformer::looked_at(const Tokens& sources) const {
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

std::vector<float> Transformer::shares_of(size_t layer) const {
  if (config_.cross == CrossSource::kLast) return {};
  if (config_.cross == CrossSource::kMix) {
    if (!mixture_.allocated()) return {};
    const NoGrad no_grad;
    return softmax(mixture_).slice_rows(layer, 1).to_vector();
  }
  std::vector<float> shares(config_.encoder_layers + 1, 0.0f);
  shares[layer + 1] = 1.0f;
  return shares;
}

Tensor Transformer::output(const Tensor& x) const {
  const Tensor y = config_.norm == NormPlace::kPre ? decoder_norm_(x) : x;
  return config_.tying == Tying::kNone ? output_(y) : embedding_.table.tied_output()(y);
}

Forced Transformer::force(const Batch& inputs, const Tokens& written) const {
  const Tokens sources = inputs.tokens("source");
  const std::vector<Tensor> source = looked_at(sources);
  Tensor x = embedding_(written.ids, written.packing);
  tap_rows("embedding", x);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    x = decoder_[i](x, written.packing, source[i], sources.packing);
    tap_rows("decoder", i, x);
  }
  return {output(x)};
}

Column Transformer::encode(const Batch& inputs) const {
  const Tokens sources = inputs.tokens("source");
  return {encoder_.rows(sources), sources.packing};
}

struct Transformer::Decoding : Generator::State {
  const Transformer& model;
  Hypotheses hypotheses;
  std::vector<CrossBlock::Memory> layers;

  explicit Decoding(const Transformer& of) : model(of) {
    for (const CrossBlock& block : of.decoder_) layers.push_back({block.self.cache(0), {}});
  }

  size_t size() const override { return hypotheses.size(); }
  std::vector<int32_t> lengths() const override {
    return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
  }

  void admit(const Batch& inputs) override {
    const NoGrad no_grad;
    const Tokens sources = inputs.tokens("source");
    const std::vector<Tensor> source = model.looked_at(sources);
    hypotheses.admit(inputs.size());
    for (size_t i = 0; i < layers.size(); ++i) {
      layers[i].self.admit(inputs.size());
      KeyValueCache remembered = model.decoder_[i].cross.remember(source[i], sources.packing);
      if (layers[i].source.sequences() == 0) {
        layers[i].source = std::move(remembered);
      } else {
        layers[i].source.admit(remembered);
      }
    }
  }

  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    const auto kept = hypotheses.retire();
    parallel_chunks(layers.size(), [&](size_t i) {
      layers[i].self.reorder(parents);
      if (kept) layers[i].source.reorder(*kept);
    });
  }

  void rewind(std::span<const int32_t> to) override {
    hypotheses.rewind(to);
    for (CrossBlock::Memory& layer : layers) layer.self.rewind(to);
  }
};

std::unique_ptr<Generator::State> Transformer::start() const {
  return std::make_unique<Decoding>(*this);
}

Tensor Transformer::step(State& state, const Tokens& tokens, StepRows which) const {
  const NoGrad no_grad;
  check_step(state, tokens);
  auto& decoding = dynamic_cast<Decoding&>(state);
  const CrossBlock::Rows rows{tokens.packing, decoding.hypotheses.by_record(tokens.packing),
                              decoding.hypotheses.record_lengths()};
  Tensor x = embedding_(tokens.ids, tokens.packing, decoding.hypotheses.lengths());
  decoding.hypotheses.advance(tokens.packing);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    x = decoder_[i].step(x, rows, decoding.layers[i]);
  }
  return output(wanted_rows(x, tokens.packing, which));
}

Signature Transformer::signature() const {
  const std::optional<size_t> places = config_.placed().positions();
  Signature signature{{{.name = "source", .framing = {.end = true}, .positions = places},
                       {.name = "target", .written = true, .positions = places}},
                      encoder_.layers("source")};
  for (size_t i = 0; i < decoder_.size(); ++i) {
    signature.layers.push_back({decoder_[i].self.name, "target", "target", config_.heads});
    signature.layers.push_back(
        {decoder_[i].cross.name, "target", "source", config_.heads, shares_of(i)});
  }
  return signature;
}

void Transformer::pack() { pack_weights(*this); }

void Transformer::visit(Visitor& v) {
  v("target_embedding", embedding_.table);
  v("source_embedding", encoder_.embedding.table);
  v("source_positions", encoder_.embedding.learned);
  v("target_positions", embedding_.learned);
  v("encoder", encoder_.blocks);
  v("encoder_norm", encoder_.norm);
  v("decoder", decoder_);
  v("decoder_norm", decoder_norm_);
  v("mixture", mixture_);
  v("output", output_);
}

}  // namespace attend
