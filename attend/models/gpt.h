// Decoder-only Transformers (Radford et al., 2019): causal self-attention over one text. The
// settings cover the architectures of GPT-2 and of Llama (Touvron et al., 2023).
#pragma once

#include "attend/base/limits.h"
#include "attend/models/block.h"
#include "attend/models/registry.h"

namespace attend {

struct GptConfig {
  size_t text_vocabulary = 0;
  size_t width = 384, layers = 6, heads = 6, kv_heads = 0, head_width = 0;
  size_t feed_forward = 0;
  NormPlace norm_place = NormPlace::kPre;
  NormKind norm = NormKind::kLayer;
  float norm_epsilon = 1e-5f;
  FeedForwardKind activation = FeedForwardKind::kGelu;
  bool bias = true;
  PositionScheme positions = PositionScheme::kLearned;
  size_t max_length = 1024;  // of learned positions, and of the score location
  float rotary_base = 10000.0f;
  RotaryLayout rotary_layout = RotaryLayout::kHalf;
  RotaryScaling rotary_scaling = RotaryScaling::kNone;
  float rotary_factor = 1.0f;
  size_t rotary_context = 0;
  bool tied = true;
  float init = 0.02f;

  // The attention of all layers (attention/multi_head.h).
  Score score = Score::kScaledDot;
  Weighting weighting = Weighting::kSoftmax;
  bool qk_norm = false, sinks = false;
  float softcap = 0.0f;
  size_t window = 0;
  bool strictly_causal = false;
  bool bidirectional_prefix = false;

  float dropout = 0.1f;
  float attention_dropout = 0.0f;
  float activation_dropout = 0.0f;

  bool operator==(const GptConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("width", width, "of a token's vector", limits::kWidth);
    v("layers", layers, "layers of attention and feed-forward", limits::kLayers);
    v("heads", heads, "of each attention layer", limits::kHeads);
    v("kv_heads", kv_heads, "heads of keys and values that the others share; 0: one each",
      limits::kHeads.or_0());
    v("head_width", head_width, "of a head's queries and keys; 0: width / heads",
      limits::kWidth.or_0());
    v("feed_forward", feed_forward,
      "width inside the feed-forward layers; 0: four times the width, or 8/3 of it for swiglu",
      limits::kFeedForward.or_0());
    v("norm_place", norm_place, "before or after each sublayer");
    v("norm", norm, "which norm: layer or rms");
    v("norm_epsilon", norm_epsilon, "added to variances");
    v("activation", activation, "of the feed-forward layers");
    v("bias", bias, "in linear layers and layer norms");
    v("positions", positions, "how the model learns where a token stands");
    v("max_length", max_length,
      "tokens of context that learned positions, or the score location, have", limits::kLength);
    v("rotary_base", rotary_base, "of rotary positions: longer waves for longer contexts");
    v("rotary_layout", rotary_layout, "which columns rotary positions pair");
    v("rotary_scaling", rotary_scaling,
      "how rotary frequencies are slowed for texts longer than those of training");
    v("rotary_factor", rotary_factor, "how many times as long texts may be");
    v("rotary_context", rotary_context,
      "tokens of context in training, for the scalings yarn and llama3", limits::kLength.or_0());
    v("tied", tied, "one table for embeddings and the output layer");
    v("init", init, "deviation of the first weights; layers that add to their input start smaller");
    v("score", score, "how queries and keys are compared");
    v("weighting", weighting, "how scores become weights");
    v("qk_norm", qk_norm, "normalise each head's queries and keys");
    v("sinks", sinks, "give each head a learned score that takes attention away from all keys");
    v("softcap", softcap, "bound scores by cap tanh(score / cap); 0: no bound");
    v("window", window, "earlier tokens that a token sees; 0: all", limits::kLength.or_0());
    v("strictly_causal", strictly_causal, "a token sees those before it, but not itself");
    v("bidirectional_prefix", bidirectional_prefix,
      "what is read before what is written, such as the source of a translation, sees all of "
      "itself");
    v("dropout", dropout, "of embeddings and of what each sublayer adds");
    v("attention_dropout", attention_dropout, "of attention weights");
    v("activation_dropout", activation_dropout, "inside the feed-forward layers");
  }

  void check() const;  // throws ConfigError

  // The settings of its blocks and of its embedding.
  BlockConfig block() const;
  PlacedEmbeddingConfig placed() const {
    return {.scheme = positions,
            .max_length = max_length,
            .bounded = !traits_of(score).reads_keys,
            .deviation = init,
            .scaled = false,
            .dropout = dropout};
  }
};

// Everything but the output layer.
class GptEncoder : public SequenceEncoder {
 public:
  GptConfig config;
  PlacedEmbedding embedding;
  std::vector<SelfBlock> blocks;
  Norm norm;  // with norms before sublayers

  GptEncoder() = default;
  GptEncoder(const GptConfig& config, Rng& rng);
  // An encoder with GPT-2's initial weights.
  static std::unique_ptr<SequenceEncoder> make(const AnyConfig& settings, Rng& rng);
  // The output of the last layer, [rows, width], for sequences with prefixes of these lengths.
  Tensor layer_rows(const Tokens& tokens, std::vector<int32_t> prefixes = {}) const;
  Tensor last(const Tensor& x) const;  // of them, what the output layer reads
  // What positions see beside earlier ones.
  Mask mask_of(std::vector<int32_t> prefixes) const;

  size_t width() const override { return config.width; }
  Tensor rows(const Tokens& tokens) const override { return last(layer_rows(tokens)); }
  const Embedding& table() const override { return embedding.table; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& sequence) const override;
  std::optional<size_t> positions() const override { return config.placed().positions(); }
  bool first_sees_all() const override { return false; }
};

// The language model: predicts each token from those before it.
class Gpt : public Model, public Generator, public Encoder {
 public:
  Gpt(const GptConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  void pack() override;
  const Generator* generator() const override { return this; }
  const Encoder* encoder() const override { return this; }
  SequenceEncoder* shared_encoder() override { return &encoder_; }

  size_t vocabulary() const override { return config_.text_vocabulary; }
  using Generator::start, Generator::step;
  std::unique_ptr<State> start() const override;
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  Forced force(const Batch& inputs, const Tokens& written) const override;
  std::optional<Tensor> logits_of_rows(const Tensor& rows) const override { return output(rows); }

  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override;

  const GptConfig& config() const { return config_; }

 private:
  struct Writing;
  Tensor output(const Tensor& x) const;  // from rows after the last layer

  GptConfig config_;
  GptEncoder encoder_;
  Linear output_;  // if it is not tied
};

ModelKind gpt_kind();

}  // namespace attend
