#include "attend/models/bert.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/nn/row_tap.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"

namespace attend {
namespace {

BertConfig bert_of(size_t layers, size_t width) {
  BertConfig c;
  c.layers = layers, c.width = width, c.heads = std::max<size_t>(2, width / 64);
  return c;
}

// All matrices and tables start as in BERT, N(0, init^2).
class BertInitializer : public Visitor {
 public:
  BertInitializer(float deviation, Rng& rng) : deviation_(deviation), rng_(rng) {}

 private:
  void on_parameter(const std::string& /*path*/, Tensor& /*parameter*/) override {}
  void on_weight(const std::string& /*path*/, Weight& weight) override {
    initialize(weight.value, Init::kNormal, rng_.stream(), deviation_);
  }

  float deviation_;
  Rng& rng_;
};

std::unique_ptr<SequenceEncoder> make_bert_encoder(const AnyConfig& settings, Rng& rng) {
  return encoder_of<BertEncoder, BertConfig>(settings, rng);
}

std::unique_ptr<Model> make_bert(const AnyConfig& settings, Rng& rng) {
  const auto& config = settings.as<BertConfig>();
  auto encoder = make_bert_encoder(settings, rng);
  auto model =
      std::make_unique<MaskedModel>(std::move(encoder), config.head, rng, config.norm_epsilon);
  BertInitializer initializer(config.init, rng);
  model->visit_head(initializer);
  return model;
}

}  // namespace

ModelKind bert_kind() {
  ModelKind kind{"bert",
                 "Transformer encoder that predicts masked tokens",
                 [] { return AnyConfig(BertConfig()); },
                 make_bert,
                 {{"bert-tiny", "2 layers, 128 wide (Turc et al., 2019)",
                   [] { return AnyConfig(bert_of(2, 128)); }},
                  {"bert-mini", "4 layers, 256 wide: some megabytes of sentences, in an hour",
                   [] { return AnyConfig(bert_of(4, 256)); }},
                  {"bert-small", "4 layers, 512 wide", [] { return AnyConfig(bert_of(4, 512)); }},
                  {"bert-base", "12 layers, 768 wide, as published (Devlin et al., 2019)",
                   [] { return AnyConfig(bert_of(12, 768)); }}}};
  kind.make_encoder = make_bert_encoder;
  return kind;
}

BlockConfig BertConfig::block() const {
  BlockConfig b;
  b.width = width;
  const bool gated = activation == FeedForwardKind::kSwiglu;
  const size_t usual = gated ? (8 * width / 3 + 31) / 32 * 32 : 4 * width;
  b.feed_forward = feed_forward == 0 ? usual : feed_forward;
  b.attention.heads = heads;
  b.attention.dropout = attention_dropout;
  b.attention.score = score;
  if (!traits_of(score).reads_keys) b.attention.longest_keys = max_length;
  b.attention.weighting = weighting;
  b.attention.qk_norm = qk_norm;
  b.attention.sinks = sinks;
  b.attention.softcap = softcap;
  if (window > 0) b.attention.window = static_cast<int64_t>(window);
  b.attention.positions = attention_positions(positions);
  b.norm_place = norm_place;
  b.norm = norm;
  b.norm_epsilon = norm_epsilon;
  b.activation = activation;
  b.bias = bias;
  b.dropout = dropout;
  b.activation_dropout = activation_dropout;
  return b;
}

void BertConfig::check() const {
  check_ranges(*this, "bert");
  if (text_vocabulary == 0) {
    throw ConfigError("bert: the vocabulary has 0 tokens; it must be known");
  }
  if (!(norm_epsilon > 0.0f && std::isfinite(norm_epsilon))) {
    throw ConfigError("bert: norm_epsilon is {}; it must be above 0", norm_epsilon);
  }
  if (!(init > 0.0f && std::isfinite(init))) {
    throw ConfigError("bert: init is {}; it must be above 0", init);
  }
  check_self_attention("bert", block().attention);
}

BertEncoder::BertEncoder(const BertConfig& c, Rng& rng) : config(c) {
  embedding = PlacedEmbedding(c.placed(), Embedding(c.text_vocabulary, c.width, rng), rng);
  if (c.segments > 0) segments = Embedding(c.segments, c.width, rng);
  if (c.embedding_norm) embedding_norm = Norm(c.block());
  blocks.reserve(c.layers);
  for (size_t i = 0; i < c.layers; ++i) {
    blocks.emplace_back(c.block(), false, "layers." + std::to_string(i), rng);
  }
  if (c.norm_place == NormPlace::kPre) norm = Norm(c.block());
  BertInitializer initializer(c.init, rng);
  visit(initializer);
}

// One text is segment 0, which is added as well, and so are both of two that are not told apart.
Tensor BertEncoder::embedded(const Tokens& tokens, const Tensor& segment_ids) const {
  Tensor x = embedding(tokens.ids, tokens.packing);
  if (config.segments > 0) {
    const size_t rows = tokens.ids.size();
    const Tensor ids = segment_ids.defined() && config.segments > 1
                           ? segment_ids
                           : Tensor::ids(std::vector<int32_t>(rows), {rows});
    x = add(x, segments.weight.rows(ids, 1.0f));
  }
  if (config.embedding_norm) x = embedding_norm(x);
  return dropout(x, config.dropout);
}

Tensor BertEncoder::rows_of_segments(const Tokens& tokens, const Tensor& segment_ids) const {
  Tensor x = embedded(tokens, segment_ids);
  tap_rows("embedding", x);
  for (size_t i = 0; i < blocks.size(); ++i) {
    x = blocks[i](x, tokens.packing);
    tap_rows("layers", i, x);
  }
  return config.norm_place == NormPlace::kPre ? norm(x) : x;
}

void BertEncoder::visit(Visitor& v) {
  v("embedding", embedding);
  v("segments", segments);
  v("embedding_norm", embedding_norm);
  v("layers", blocks);
  v("norm", norm);
}

std::vector<AttentionLayer> BertEncoder::layers(const std::string& sequence) const {
  std::vector<AttentionLayer> found;
  for (const SelfBlock& block : blocks) {
    found.push_back({block.self.name, sequence, sequence, config.heads});
  }
  return found;
}

}  // namespace attend
