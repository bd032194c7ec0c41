#include "attend/models/gpt.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/nn/pack.h"
#include "attend/nn/row_tap.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

GptConfig nano() {  // nanoGPT's setting for a laptop's CPU
  GptConfig c;
  c.width = 128, c.layers = 4, c.heads = 4;
  c.max_length = 64;
  c.bias = false;
  c.dropout = 0.0f;
  return c;
}

GptConfig micro() {
  GptConfig c;
  c.width = 256, c.layers = 6, c.heads = 8;
  c.max_length = 256;
  c.bias = false;
  return c;
}

GptConfig gpt2() {
  GptConfig c;
  c.width = 768, c.layers = 12, c.heads = 12;
  c.activation = FeedForwardKind::kGeluTanh;
  return c;
}

GptConfig llama() {
  GptConfig c;
  c.width = 288, c.layers = 6, c.heads = 6;
  c.norm = NormKind::kRms;
  c.activation = FeedForwardKind::kSwiglu;
  c.positions = PositionScheme::kRotary;
  c.bias = false;
  return c;
}

// 8/3 of the width keeps the parameters of four times the width without a gate; whole vectors.
size_t usual_feed_forward(const GptConfig& c) {
  if (c.activation != FeedForwardKind::kSwiglu) return 4 * c.width;
  return (8 * c.width / 3 + 31) / 32 * 32;
}

// Deviations as in GPT-2: what is added to the residual stream 2 x layers times starts smaller, so
// that the sum has the same size for any depth.
class Initializer : public Visitor {
 public:
  Initializer(const GptConfig& config, Rng& rng)
      : deviation_(config.init),
        added_(config.init / std::sqrt(2.0f * static_cast<float>(config.layers))),
        rng_(rng) {}

 private:
  void on_parameter(const std::string& /*path*/, Tensor& /*parameter*/) override {}
  void on_weight(const std::string& path, Weight& weight) override {
    const bool added =
        path.ends_with(".self.output.weight") || path.ends_with(".feed_forward.out.weight");
    initialize(weight.value, Init::kNormal, rng_.stream(), added ? added_ : deviation_);
  }

  float deviation_, added_;
  Rng& rng_;
};

// What slows rotary frequencies, in the words of the config.
void check_rotary_scaling(const GptConfig& c) {
  const RotaryScaling scaling = c.rotary_scaling;
  if (scaling == RotaryScaling::kNone) return;
  if (c.positions != PositionScheme::kRotary) {
    throw ConfigError("gpt: rotary_scaling {}, but positions {}; set positions to rotary",
                      name_of(scaling), name_of(c.positions));
  }
  if (scaling == RotaryScaling::kDynamicNtk) {
    throw ConfigError(
        "gpt: rotary_scaling dynamic_ntk changes with the length of a text, but keys that were "
        "read keep their frequencies; use ntk");
  }
  if (!(c.rotary_factor >= 1.0f && std::isfinite(c.rotary_factor))) {
    throw ConfigError("gpt: rotary_factor is {}; it must be 1 or more", c.rotary_factor);
  }
  const bool starts_from_context =
      scaling == RotaryScaling::kYarn || scaling == RotaryScaling::kLlama3;
  if (starts_from_context && c.rotary_context == 0) {
    throw ConfigError(
        "gpt: rotary_scaling {} needs rotary_context, the tokens of context in training",
        name_of(scaling));
  }
}

GptConfig gpt_of_size(const ModelSize& size) {
  GptConfig c;
  c.width = size.width, c.layers = size.layers, c.heads = std::max<size_t>(4, size.width / 64);
  c.positions = PositionScheme::kRotary;
  c.dropout = size.dropout;
  return c;
}

}  // namespace

ModelKind gpt_kind() {
  ModelKind kind = language_model_kind_of<Gpt, GptConfig>(
      "gpt", "decoder-only Transformer: a language model",
      {{"gpt-nano", "4 layers, 128 wide, context 64: characters of a book, in minutes",
        [] { return AnyConfig(nano()); }},
       {"gpt-micro", "6 layers, 256 wide, context 256: some megabytes of text",
        [] { return AnyConfig(micro()); }},
       {"gpt2", "12 layers, 768 wide, context 1024: GPT-2's smallest (Radford et al., 2019)",
        [] { return AnyConfig(gpt2()); }},
       {"llama",
        "6 layers, 288 wide, rotary positions, SwiGLU and RMS norms (Touvron et al., 2023)",
        [] { return AnyConfig(llama()); }}});
  kind.make_encoder = GptEncoder::make;
  kind.sized = [](const ModelSize& size) { return AnyConfig(gpt_of_size(size)); };
  return kind;
}

BlockConfig GptConfig::block() const {
  BlockConfig b;
  b.width = width;
  b.feed_forward = feed_forward == 0 ? usual_feed_forward(*this) : feed_forward;
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
  b.attention.rotary.base = rotary_base;
  b.attention.rotary.layout = rotary_layout;
  b.attention.rotary.scaling = {
      .method = rotary_scaling, .factor = rotary_factor, .original_context = rotary_context};
  b.norm_place = norm_place;
  b.norm = norm;
  b.norm_epsilon = norm_epsilon;
  b.activation = activation;
  b.bias = bias;
  b.dropout = dropout;
  b.activation_dropout = activation_dropout;
  return b;
}

void GptConfig::check() const {
  check_ranges(*this, "gpt");
  if (text_vocabulary == 0) throw ConfigError("gpt: the vocabulary has 0 tokens; it must be known");
  if (!(norm_epsilon > 0.0f && std::isfinite(norm_epsilon))) {
    throw ConfigError("gpt: norm_epsilon is {}; it must be above 0", norm_epsilon);
  }
  if (!(init > 0.0f && std::isfinite(init))) {
    throw ConfigError("gpt: init is {}; it must be above 0", init);
  }
  check_rotary_scaling(*this);
  check_self_attention("gpt", block().attention);
  if (bidirectional_prefix && window > 0) {
    throw ConfigError(
        "gpt: a window of {} hides the start of a long prefix, which bidirectional_prefix is to "
        "show; leave out one of them",
        window);
  }
}

GptEncoder::GptEncoder(const GptConfig& c, Rng& rng) : config(c) {
  embedding = PlacedEmbedding(c.placed(), Embedding(c.text_vocabulary, c.width, rng), rng);
  blocks.reserve(c.layers);
  for (size_t i = 0; i < c.layers; ++i) {
    blocks.emplace_back(c.block(), true, "layers." + std::to_string(i), rng);
  }
  if (c.norm_place == NormPlace::kPre) norm = Norm(c.block());
}

std::unique_ptr<SequenceEncoder> GptEncoder::make(const AnyConfig& settings, Rng& rng) {
  auto made = encoder_of<GptEncoder, GptConfig>(settings, rng);
  Initializer initializer(settings.as<GptConfig>(), rng);
  made->visit(initializer);
  return made;
}

Gpt::Gpt(const GptConfig& config, Rng& rng) : config_(config) {
  config.check();
  encoder_ = GptEncoder(config, rng);
  if (!config.tied) output_ = Linear(config.width, config.text_vocabulary, rng, {.bias = false});
  Initializer initializer(config, rng);
  visit(initializer);
}

Mask GptEncoder::mask_of(std::vector<int32_t> prefixes) const {
  if (!config.bidirectional_prefix) return {};
  return {.causal = true, .prefix = std::move(prefixes)};
}

Tensor GptEncoder::layer_rows(const Tokens& tokens, std::vector<int32_t> prefixes) const {
  Tensor x = embedding(tokens.ids, tokens.packing);
  const Mask mask = mask_of(std::move(prefixes));
  tap_rows("embedding", x);
  for (size_t i = 0; i < blocks.size(); ++i) {
    x = blocks[i](x, tokens.packing, mask);
    tap_rows("layers", i, x);
  }
  return x;
}

Tensor GptEncoder::last(const Tensor& x) const {
  return config.norm_place == NormPlace::kPre ? norm(x) : x;
}

std::vector<AttentionLayer> GptEncoder::layers(const std::string& sequence) const {
  std::vector<AttentionLayer> all;
  for (const SelfBlock& block : blocks) {
    all.push_back({block.self.name, sequence, sequence, config.heads});
  }
  return all;
}

void GptEncoder::visit(Visitor& v) {
  v("embedding", embedding.table);
  v("positions", embedding.learned);
  v("layers", blocks);
  v("norm", norm);
}

Tensor Gpt::output(const Tensor& x) const {
  const Tensor y = encoder_.last(x);
  return config_.tied ? encoder_.embedding.table.tied_output()(y) : output_(y);
}

Forced Gpt::force(const Batch& inputs, const Tokens& written) const {
  const Tensor x = encoder_.layer_rows(written, prefix_lengths(inputs));
  return {output(rows_after_prefixes(x, written.packing, inputs))};
}

Column Gpt::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens("text");
  return {encoder_.last(encoder_.layer_rows(text, prefix_lengths(inputs))), text.packing};
}

struct Gpt::Writing : Generator::State {
  Hypotheses hypotheses;
  std::vector<int32_t> prefixes;  // of each hypothesis; read in its first step as a whole
  std::vector<KeyValueCache> layers;

  explicit Writing(const Gpt& model) {
    for (const SelfBlock& block : model.encoder_.blocks) layers.push_back(block.self.cache(0));
  }

  size_t size() const override { return hypotheses.size(); }
  std::vector<int32_t> lengths() const override {
    return {hypotheses.lengths().begin(), hypotheses.lengths().end()};
  }
  void admit(const Batch& inputs) override {
    hypotheses.admit(inputs.size());
    const std::vector<int32_t> given = prefix_lengths(inputs);
    prefixes.insert(prefixes.end(), given.begin(), given.end());
    prefixes.resize(hypotheses.size());
    for (KeyValueCache& layer : layers) layer.admit(inputs.size());
  }
  void reorder(std::span<const size_t> parents) override {
    hypotheses.reorder(parents);
    hypotheses.retire();
    std::vector<int32_t> kept;
    for (const size_t parent : parents) kept.push_back(prefixes[parent]);
    prefixes = std::move(kept);
    parallel_chunks(layers.size(), [&](size_t i) { layers[i].reorder(parents); });
  }
  void rewind(std::span<const int32_t> to) override {
    hypotheses.rewind(to);
    for (KeyValueCache& layer : layers) layer.rewind(to);
  }
};

std::unique_ptr<Generator::State> Gpt::start() const { return std::make_unique<Writing>(*this); }

Tensor Gpt::step(State& state, const Tokens& tokens, StepRows which) const {
  const NoGrad no_grad;
  check_step(state, tokens);
  auto& writing = dynamic_cast<Writing&>(state);
  Tensor x = encoder_.embedding(tokens.ids, tokens.packing, writing.hypotheses.lengths());
  writing.hypotheses.advance(tokens.packing);
  const Mask mask = encoder_.mask_of(writing.prefixes);
  for (size_t i = 0; i < encoder_.blocks.size(); ++i) {
    x = encoder_.blocks[i].step(x, tokens.packing, writing.layers[i], mask);
  }
  return output(wanted_rows(x, tokens.packing, which));
}

Signature Gpt::signature() const {
  return {{{.name = "text", .written = true, .positions = encoder_.positions()}},
          encoder_.layers("text")};
}

void Gpt::pack() { pack_weights(*this); }

void Gpt::visit(Visitor& v) {
  encoder_.visit(v);
  v("output", output_);
}

}  // namespace attend
