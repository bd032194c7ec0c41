// Encoders of BERT's shape (Devlin et al., 2019): self-attention in both directions over one text,
// or over two with an end token between them. The settings also cover later forms, with norms
// before the sublayers, rotary positions and gated feed-forward layers.
#pragma once

#include "attend/base/limits.h"
#include "attend/models/block.h"
#include "attend/models/masked.h"
#include "attend/models/registry.h"

namespace attend {

struct BertConfig {
  size_t text_vocabulary = 0;
  size_t width = 256, layers = 4, heads = 4;
  size_t feed_forward = 0;
  NormPlace norm_place = NormPlace::kPost;
  NormKind norm = NormKind::kLayer;
  float norm_epsilon = 1e-12f;
  FeedForwardKind activation = FeedForwardKind::kGelu;
  bool bias = true;
  PositionScheme positions = PositionScheme::kLearned;
  size_t max_length = 512;  // of learned positions, and of the score location
  size_t segments = 2;
  bool embedding_norm = true;
  float init = 0.02f;

  // The attention of all layers (attention/multi_head.h).
  Score score = Score::kScaledDot;
  Weighting weighting = Weighting::kSoftmax;
  bool qk_norm = false, sinks = false;
  float softcap = 0.0f;
  size_t window = 0;

  float dropout = 0.1f;
  float attention_dropout = 0.1f;
  float activation_dropout = 0.0f;

  MaskedHeadConfig head;

  bool operator==(const BertConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("width", width, "of a token's vector", limits::kWidth);
    v("layers", layers, "layers of attention and feed-forward", limits::kLayers);
    v("heads", heads, "of each attention layer", limits::kHeads);
    v("feed_forward", feed_forward,
      "width inside the feed-forward layers; 0: four times the width, or 8/3 of it for swiglu",
      limits::kFeedForward.or_0());
    v("norm_place", norm_place, "before or after each sublayer");
    v("norm", norm, "which norm: layer or rms");
    v("norm_epsilon", norm_epsilon, "added to variances");
    v("activation", activation, "of the feed-forward layers");
    v("bias", bias, "in linear layers and layer norms");
    v("positions", positions, "how the model learns where a token stands");
    v("max_length", max_length, "tokens that learned positions, or the score location, have",
      limits::kLength);
    v("segments", segments, "texts that an embedding of segments tells apart; 0: it has none",
      Range{0, 16});
    v("embedding_norm", embedding_norm, "normalise embeddings before the first layer");
    v("init", init, "deviation of the first weights");
    v("score", score, "how queries and keys are compared");
    v("weighting", weighting, "how scores become weights");
    v("qk_norm", qk_norm, "normalise each head's queries and keys");
    v("sinks", sinks, "give each head a learned score that takes attention away from all keys");
    v("softcap", softcap, "bound scores by cap tanh(score / cap); 0: no bound");
    v("window", window, "tokens on either side that a token sees; 0: all", limits::kLength.or_0());
    v("dropout", dropout, "of embeddings and of what each sublayer adds");
    v("attention_dropout", attention_dropout, "of attention weights");
    v("activation_dropout", activation_dropout, "inside the feed-forward layers");
    v("head", head, "what predicts masked tokens");
  }

  void check() const;  // throws ConfigError

  // The settings of its blocks and of its embedding.
  BlockConfig block() const;
  PlacedEmbeddingConfig placed() const {
    return {.scheme = positions,
            .max_length = max_length,
            .bounded = !traits_of(score).reads_keys,
            .deviation = init,
            .scaled = false};
  }
};

// Everything but the heads.
class BertEncoder : public SequenceEncoder {
 public:
  BertConfig config;
  PlacedEmbedding embedding;
  Embedding segments;  // if there are any
  Norm embedding_norm;
  std::vector<SelfBlock> blocks;
  Norm norm;  // with norms before sublayers

  BertEncoder() = default;
  BertEncoder(const BertConfig& config, Rng& rng);

  size_t width() const override { return config.width; }
  Tensor rows(const Tokens& tokens) const override { return rows_of_segments(tokens, {}); }
  Tensor rows_of_segments(const Tokens& tokens, const Tensor& segment_ids) const override;
  const Embedding& table() const override { return embedding.table; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& sequence) const override;
  std::optional<size_t> positions() const override { return config.placed().positions(); }
  bool wants_start() const override { return true; }

 private:
  Tensor embedded(const Tokens& tokens, const Tensor& segment_ids) const;
};

ModelKind bert_kind();

}  // namespace attend
