// The Transformer (Vaswani et al., 2017), encoder and decoder, with any positions and any point of
// attention's space that multi-head attention can be.
#pragma once

#include <string_view>

#include "attend/base/limits.h"
#include "attend/models/generator.h"
#include "attend/models/placed_embedding.h"
#include "attend/nn/dropout.h"
#include "attend/nn/pack.h"

namespace attend {

enum class NormPlace {
  kPre,   // x + f(norm(x)), and a norm at the end (Xiong et al., 2020)
  kPost,  // norm(x + f(x)), as published
};
NormPlace norm_place_from_name(std::string_view name);  // throws ConfigError with the choices
std::string_view name_of(NormPlace place);

enum class FeedForwardKind { kRelu, kGelu, kSwiglu };
FeedForwardKind feed_forward_from_name(std::string_view name);
std::string_view name_of(FeedForwardKind kind);

// Which tables are one.
enum class Tying {
  kNone,
  kDecoder,  // the decoder's embedding and the output layer
  kAll,      // the encoder's embedding too: one vocabulary for both sides
};
Tying tying_from_name(std::string_view name);
std::string_view name_of(Tying tying);

// What the decoder's layers look at.
enum class CrossSource {
  kLast,  // the encoder's last layer
  kSame,  // layer i at the encoder's layer i
  kMix,   // each at a learned mixture of all of them (Bapna et al., 2018)
};
CrossSource cross_source_from_name(std::string_view name);
std::string_view name_of(CrossSource source);

struct TransformerConfig {
  size_t source_vocabulary = 0, target_vocabulary = 0;
  size_t width = 256, heads = 4, kv_heads = 0, feed_forward = 1024;
  size_t encoder_layers = 3, decoder_layers = 3;
  NormPlace norm = NormPlace::kPre;
  FeedForwardKind activation = FeedForwardKind::kRelu;
  PositionScheme positions = PositionScheme::kSinusoidal;
  size_t max_length = 1024;  // of learned positions
  Tying tying = Tying::kDecoder;
  CrossSource cross = CrossSource::kLast;

  // The point of attention's space that all layers are at (attention/multi_head.h).
  size_t head_width = 0;
  Score score = Score::kScaledDot;
  Weighting weighting = Weighting::kSoftmax;
  bool qk_norm = false, sinks = false;
  float softcap = 0.0f;
  size_t window = 0;  // of self-attention; 0: all

  float dropout = 0.1f;            // of embeddings, and of what each sublayer adds
  float attention_dropout = 0.0f;  // of weights
  float activation_dropout = 0.0f;

  bool operator==(const TransformerConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("source_vocabulary", source_vocabulary, "tokens of the source; known from its tokenizer",
      limits::kVocabulary);
    v("target_vocabulary", target_vocabulary, "tokens of the target; known from its tokenizer",
      limits::kVocabulary);
    v("width", width, "of a token's vector", limits::kWidth);
    v("heads", heads, "of each attention layer", limits::kHeads);
    v("kv_heads", kv_heads, "heads of keys and values that the others share; 0: one each",
      limits::kHeads.or_0());
    v("feed_forward", feed_forward, "width inside the feed-forward layers", limits::kFeedForward);
    v("encoder_layers", encoder_layers, "layers that read", limits::kLayers.or_0());
    v("decoder_layers", decoder_layers, "layers that write", limits::kLayers);
    v("norm", norm, "before or after each sublayer");
    v("activation", activation, "of the feed-forward layers");
    v("positions", positions, "how the model learns where a token stands");
    v("max_length", max_length, "longest sequence of learned positions", limits::kLength);
    v("tying", tying, "which of the embeddings and the output layer are one table");
    v("cross", cross, "what of the encoder the decoder's layers look at");
    v("head_width", head_width, "of a head's queries and keys; 0: width / heads",
      limits::kWidth.or_0());
    v("score", score, "how queries and keys are compared: one without weights of its own");
    v("weighting", weighting, "how scores become weights: one with a gradient, for any key");
    v("qk_norm", qk_norm, "each head's queries and keys have one length");
    v("sinks", sinks, "a learned score of nothing beside the keys, in each head's softmax");
    v("softcap", softcap, "scores stay below it: cap tanh(score / cap); 0: they may be any");
    v("window", window, "keys that self-attention sees on either side; 0: all",
      limits::kLength.or_0());
    v("dropout", dropout, "of embeddings and of what each sublayer adds");
    v("attention_dropout", attention_dropout, "of attention weights");
    v("activation_dropout", activation_dropout, "inside the feed-forward layers");
  }

  // "tiny", "small" or "base"; vocabularies are for the caller to fill in.
  static TransformerConfig preset(std::string_view name);
  void check() const;  // throws ConfigError

  PlacedEmbeddingConfig placed() const {
    return {.scheme = positions, .max_length = max_length, .dropout = dropout};
  }
};

// Two layers on each row by itself; SwiGLU (Shazeer, 2020) has a gate beside the first.
struct FeedForward {
  FeedForwardKind kind = FeedForwardKind::kRelu;
  float dropout = 0.0f;
  Linear in, gate, out;

  FeedForward() = default;
  FeedForward(const TransformerConfig& config, Rng& rng);
  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

// One of the functions that a layer adds to its input, with the norm before or after.
struct Sublayer {
  LayerNorm norm;
  NormPlace place = NormPlace::kPre;
  Dropout dropout;

  Sublayer() = default;
  explicit Sublayer(const TransformerConfig& config)
      : norm(config.width), place(config.norm), dropout{config.dropout} {}

  template <typename F>
  Tensor operator()(const Tensor& x, const F& f) const {
    if (place == NormPlace::kPre) return dropout(f(norm(x)), x);
    return norm(dropout(f(x), x));
  }
  void visit(Visitor& v) { norm.visit(v); }
};

struct EncoderLayer {
  Sublayer self_norm, feed_forward_norm;
  MultiHeadAttention self;
  FeedForward feed_forward;

  EncoderLayer() = default;
  EncoderLayer(const TransformerConfig& config, const std::string& name, Rng& rng);
  Tensor operator()(const Tensor& x, const Packing& packing) const;
  void visit(Visitor& v);
};

struct TransformerEncoder {
  TransformerConfig config;
  PlacedEmbedding embedding;
  std::vector<EncoderLayer> layers;
  LayerNorm norm;  // with the norms before

  TransformerEncoder() = default;
  TransformerEncoder(const TransformerConfig& config, PlacedEmbedding embedding, Rng& rng);
  TransformerEncoder(const TransformerConfig& config, Rng& rng);  // with an embedding of its own

  // The embeddings and what each layer made of them, as a decoder may look at it.
  std::vector<Tensor> operator()(const Tokens& sources) const;
  std::vector<AttentionLayer> attention_layers() const;

  Tensor rows(const Tokens& sources) const { return (*this)(sources).back(); }  // [rows, width]
  size_t width() const { return config.width; }
  void visit(Visitor& v);
};

struct DecoderLayer {
  Sublayer self_norm, cross_norm, feed_forward_norm;
  MultiHeadAttention self, cross;
  FeedForward feed_forward;

  DecoderLayer() = default;
  DecoderLayer(const TransformerConfig& config, const std::string& name, Rng& rng);
  Tensor operator()(const Tensor& x, const Packing& packing, const Tensor& source,
                    const Packing& keys) const;
  struct Memory {
    KeyValueCache self, source;
  };
  Tensor step(const Tensor& x, const Hypotheses& hypotheses, Memory& memory) const;
  void visit(Visitor& v);
};

class Transformer : public Seq2Seq {
 public:
  Transformer(const TransformerConfig& config, Rng& rng);

  size_t vocabulary() const override { return config_.target_vocabulary; }
  std::unique_ptr<State> start(const Tokens& sources) const override;
  Tensor step(State& state, std::span<const int32_t> tokens) const override;
  Tensor logits(const Tokens& sources, const Tokens& inputs) const override;
  void visit(Visitor& v) override;
  void pack() override { pack_weights(*this); }
  std::vector<AttentionLayer> attention_layers() const override;

  const TransformerConfig& config() const { return config_; }

 private:
  struct Decoding;
  std::vector<Tensor> encode(const Tokens& sources) const;  // what each decoder layer looks at
  Tensor output(const Tensor& x) const;

  TransformerConfig config_;
  TransformerEncoder encoder_;
  PlacedEmbedding embedding_;
  std::vector<DecoderLayer> decoder_;
  LayerNorm decoder_norm_;  // with the norms before
  Tensor mixture_;          // [decoder layers, encoder layers], of kMix
  Linear output_;           // where it is not tied
};

}  // namespace attend
