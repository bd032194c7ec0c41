// The Transformer (Vaswani et al., 2017), encoder and decoder, with any positions, score and
// weighting that multi-head attention supports.
#pragma once

#include <string_view>

#include "attend/base/limits.h"
#include "attend/models/block.h"
#include "attend/models/registry.h"

namespace attend {

// Which embedding tables are shared.
enum class Tying {
  kNone,
  kDecoder,  // the decoder's embedding and the output layer
  kAll,      // the encoder's embedding too: one vocabulary for both sides
};
std::string_view name_of(Tying tying);

// What the decoder's layers attend to.
enum class CrossSource {
  kLast,  // the encoder's last layer
  kSame,  // layer i attends to the encoder's layer i
  kMix,   // a learned mixture of all encoder layers (Bapna et al., 2018)
};
std::string_view name_of(CrossSource source);

struct TransformerConfig {
  size_t source_vocabulary = 0, target_vocabulary = 0;
  size_t width = 256, heads = 4, kv_heads = 0, feed_forward = 1024;
  size_t encoder_layers = 3, decoder_layers = 3;
  NormPlace norm = NormPlace::kPre;
  FeedForwardKind activation = FeedForwardKind::kRelu;
  PositionScheme positions = PositionScheme::kSinusoidal;
  size_t position_width = 0;  // concatenated; 0: added
  size_t max_length = 1024;   // of learned positions, and of the score location
  Tying tying = Tying::kDecoder;
  CrossSource cross = CrossSource::kLast;

  // The attention of all layers (attention/multi_head.h).
  size_t head_width = 0;
  Score score = Score::kScaledDot;
  Weighting weighting = Weighting::kSoftmax;
  bool qk_norm = false, sinks = false;
  float softcap = 0.0f;
  size_t window = 0;             // of self-attention; 0: all
  bool strictly_causal = false;  // the decoder's self-attention sees earlier positions only

  float dropout = 0.1f;            // of embeddings, and of each sublayer's output
  float attention_dropout = 0.0f;  // of weights
  float activation_dropout = 0.0f;

  bool operator==(const TransformerConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("source_vocabulary", source_vocabulary, "tokens of the source; set from its tokenizer",
      limits::kVocabulary);
    v("target_vocabulary", target_vocabulary, "tokens of the target; set from its tokenizer",
      limits::kVocabulary);
    v("width", width, "of a token's vector", limits::kWidth);
    v("heads", heads, "of each attention layer", limits::kHeads);
    v("kv_heads", kv_heads, "heads of keys and values that the others share; 0: one each",
      limits::kHeads.or_0());
    v("feed_forward", feed_forward, "width inside the feed-forward layers", limits::kFeedForward);
    v("encoder_layers", encoder_layers, "layers of the encoder", limits::kLayers.or_0());
    v("decoder_layers", decoder_layers, "layers of the decoder", limits::kLayers);
    v("norm", norm, "before or after each sublayer");
    v("activation", activation, "of the feed-forward layers");
    v("positions", positions, "how the model learns where a token stands");
    v("position_width", position_width,
      "columns of positions beside each embedding, within the width; 0: they are added to it",
      limits::kWidth.or_0());
    v("max_length", max_length, "longest sequence of learned positions, or of the score location",
      limits::kLength);
    v("tying", tying, "which of the embeddings and the output layer are one table");
    v("cross", cross, "what of the encoder the decoder's layers look at");
    v("head_width", head_width, "of a head's queries and keys; 0: width / heads",
      limits::kWidth.or_0());
    v("score", score, "how queries and keys are compared");
    v("weighting", weighting, "how scores become weights");
    v("qk_norm", qk_norm, "normalise each head's queries and keys");
    v("sinks", sinks, "give each head a learned score that takes attention away from all keys");
    v("softcap", softcap, "bound scores by cap tanh(score / cap); 0: no bound");
    v("window", window, "keys that self-attention sees on either side; 0: all",
      limits::kLength.or_0());
    v("strictly_causal", strictly_causal,
      "a token of the decoder sees those before it, but not itself");
    v("dropout", dropout, "of embeddings and of what each sublayer adds");
    v("attention_dropout", attention_dropout, "of attention weights");
    v("activation_dropout", activation_dropout, "inside the feed-forward layers");
  }

  void check() const;  // throws ConfigError

  // The settings of its blocks and of its embeddings.
  BlockConfig block() const;
  PlacedEmbeddingConfig placed() const {
    return {.scheme = positions,
            .concatenated = position_width,
            .max_length = max_length,
            .bounded = !traits_of(score).reads_keys,
            .dropout = dropout};
  }
  // Of a token's vector, without concatenated positions.
  size_t embedding_width() const { return width - position_width; }
};

// Reads the source.
class TransformerEncoder : public SequenceEncoder {
 public:
  TransformerConfig config;
  PlacedEmbedding embedding;
  std::vector<SelfBlock> blocks;
  Norm norm;  // with norms before sublayers

  TransformerEncoder() = default;
  TransformerEncoder(const TransformerConfig& config, PlacedEmbedding embedding, Rng& rng);
  TransformerEncoder(const TransformerConfig& config, Rng& rng);  // with its own embedding

  // The embeddings and the output of each layer, [rows, width].
  std::vector<Tensor> operator()(const Tokens& sources) const;

  size_t width() const override { return config.width; }
  Tensor rows(const Tokens& tokens) const override { return (*this)(tokens).back(); }
  const Embedding& table() const override { return embedding.table; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& sequence) const override;
  std::optional<size_t> positions() const override { return config.placed().positions(); }
};

// The encoder-decoder.
class Transformer : public Model, public Generator, public Encoder {
 public:
  Transformer(const TransformerConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  void pack() override;
  const Generator* generator() const override { return this; }
  const Encoder* encoder() const override { return this; }
  SequenceEncoder* shared_encoder() override { return &encoder_; }

  size_t vocabulary() const override { return config_.target_vocabulary; }
  using Generator::start, Generator::step;
  std::unique_ptr<State> start() const override;
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  Forced force(const Batch& inputs, const Tokens& written) const override;
  std::optional<Tensor> logits_of_rows(const Tensor& rows) const override { return output(rows); }

  size_t width() const override { return config_.width; }
  Column encode(const Batch& inputs) const override;

  const TransformerConfig& config() const { return config_; }

 private:
  struct Decoding;
  std::vector<Tensor> looked_at(const Tokens& sources) const;  // by each decoder layer
  std::vector<float> shares_of(size_t layer) const;
  Tensor output(const Tensor& x) const;

  TransformerConfig config_;
  TransformerEncoder encoder_;
  PlacedEmbedding embedding_;
  std::vector<CrossBlock> decoder_;
  Norm decoder_norm_;  // where norms come before
  Tensor mixture_;     // [decoder layers, encoder layers + 1], of kMix
  Linear output_;      // if it is not tied
};

ModelKind transformer_kind();

}  // namespace attend
