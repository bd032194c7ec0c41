// A convolutional language model: layers of causal, dilated convolutions with residual and skip
// connections (WaveNet; van den Oord et al., 2016), gated linearly (Dauphin et al., 2017).
#pragma once

#include <string_view>

#include "attend/base/limits.h"
#include "attend/models/conv_window.h"
#include "attend/models/output_layer.h"
#include "attend/models/placed_embedding.h"
#include "attend/models/registry.h"

namespace attend {

// The activation between the sum of the layers and the output layer.
enum class HeadActivation { kRelu, kGelu, kSilu, kTanh };
std::string_view name_of(HeadActivation activation);

struct CausalConvConfig {
  size_t text_vocabulary = 0;
  size_t width = 256, layers = 8, kernel = 2, dilation_cycle = 8;
  size_t skip_width = 256;
  HeadActivation activation = HeadActivation::kRelu;
  PositionScheme positions = PositionScheme::kNone;
  size_t max_length = 1024;  // of learned positions
  bool tied = true;
  float dropout = 0.1f;

  bool operator==(const CausalConvConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("width", width, "of a token's vector, and channels of the convolutions", limits::kWidth);
    v("layers", layers, "gated convolutions", limits::kLayers);
    v("kernel", kernel, "rows that a convolution sees", limits::kKernel);
    v("dilation_cycle", dilation_cycle,
      "layers after which dilations 1, 2, 4 .. start again; 1: none are dilated", Range{1, 16});
    v("skip_width", skip_width, "of what each layer adds to the last rows", limits::kWidth);
    v("activation", activation, "of the two layers between that sum and the output layer");
    v("positions", positions,
      "how the model learns where a token stands: none, sinusoidal, learned");
    v("max_length", max_length, "longest sequence of learned positions", limits::kLength);
    v("tied", tied, "the embedding is the output layer");
    v("dropout", dropout, "of embeddings, of what convolutions see and of what is put out");
  }

  // Of the convolution of a layer.
  size_t dilation(size_t layer) const { return size_t{1} << layer % dilation_cycle; }
  // How many tokens the model sees before the current one.
  size_t reach() const;

  void check() const;  // throws ConfigError

  // The settings of its embedding.
  PlacedEmbeddingConfig placed() const {
    return {.scheme = positions, .max_length = max_length, .deviation = 1.0f, .dropout = dropout};
  }
};

// z = GLU(conv(x)). The next layer reads x + R z, scaled to keep the variance; the output layer
// reads the sum of S z over all layers.
struct CausalConvLayer {
  Conv1d conv;
  Linear residual, skip;  // R, not in the last layer; S
  float dropout = 0.0f;

  CausalConvLayer() = default;
  CausalConvLayer(const CausalConvConfig& config, size_t layer, Rng& rng);

  // x [rows, width], and the sum of the skip connections so far, [rows, skip width] or undefined.
  struct Rows {
    Tensor x, skips;
  };
  // Both after this layer; in steps, `window` has the earlier rows.
  Rows operator()(const Rows& rows, const Packing& packing) const;
  Rows step(const Rows& rows, const Packing& packing, ConvWindow& window) const;
  void visit(Visitor& v);

 private:
  Rows after(const Rows& rows, const Tensor& z) const;
};

// Everything but the output layer. A RowTap sees the sum of the skip connections up to each layer,
// which is all that the output layer reads.
class CausalConvEncoder : public SequenceEncoder {
 public:
  CausalConvConfig config;
  PlacedEmbedding embedding;
  std::vector<CausalConvLayer> convolutions;
  Linear head;  // skip width to width

  CausalConvEncoder() = default;
  CausalConvEncoder(const CausalConvConfig& config, Rng& rng);
  Tensor last(const Tensor& skips) const;  // rows before the output layer, from the layers' sum

  size_t width() const override { return config.width; }
  Tensor rows(const Tokens& tokens) const override;
  const Embedding& table() const override { return embedding.table; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& /*sequence*/) const override { return {}; }
  std::optional<size_t> positions() const override { return config.placed().positions(); }
  bool first_sees_all() const override { return false; }
};

// The language model: predicts each token from those before it.
class CausalConvLanguageModel : public Model, public Generator, public Encoder {
 public:
  CausalConvLanguageModel(const CausalConvConfig& config, Rng& rng);

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
  // Logits from sums of skip connections, [rows, skip width], as if the later layers added nothing.
  std::optional<Tensor> logits_of_rows(const Tensor& skips) const override {
    return output_(encoder_.last(skips));
  }

  // Of the rows that the output layer reads.
  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override;

  const CausalConvConfig& config() const { return config_; }

 private:
  struct Writing;
  // The layers' sum for each row; `first` is the position of the first of each hypothesis.
  Tensor advance(Writing& writing, const Tokens& tokens, std::span<const int32_t> first) const;

  CausalConvConfig config_;
  CausalConvEncoder encoder_;
  OutputLayer output_;
  std::vector<kernels::PackedMatrix> packed_;  // taps of each layer, made by pack()
};

ModelKind causal_conv_kind();

}  // namespace attend
