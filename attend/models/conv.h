// Convolutional sequence to sequence (Gehring et al., 2017): gated convolutions read the source,
// causal ones write the target, dilated as in ByteNet (Kalchbrenner et al., 2016), and each layer
// of the decoder attends to the source.
#pragma once

#include <string_view>

#include "attend/base/limits.h"
#include "attend/models/conv_window.h"
#include "attend/models/placed_embedding.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"

namespace attend {

struct ConvConfig {
  size_t source_vocabulary = 0, target_vocabulary = 0;
  size_t width = 256, hidden = 256, kernel = 3;
  size_t encoder_layers = 4, decoder_layers = 4;
  size_t dilation_cycle = 5;
  PositionScheme positions = PositionScheme::kSinusoidal;
  size_t max_length = 1024;  // of learned positions
  Tying tying = Tying::kDecoder;
  float dropout = 0.1f;

  bool operator==(const ConvConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("source_vocabulary", source_vocabulary, "tokens of the source; set from its tokenizer",
      limits::kVocabulary);
    v("target_vocabulary", target_vocabulary, "tokens of the target; set from its tokenizer",
      limits::kVocabulary);
    v("width", width, "of a token's vector, of queries and of keys", limits::kWidth);
    v("hidden", hidden, "channels of the convolutions", limits::kWidth);
    v("kernel", kernel, "rows that a convolution sees", limits::kKernel);
    v("encoder_layers", encoder_layers, "layers that read", limits::kLayers.or_0());
    v("decoder_layers", decoder_layers, "layers that write", limits::kLayers);
    v("dilation_cycle", dilation_cycle,
      "decoder layers after which dilations 1, 2, 4 .. start again; 1: none are dilated",
      Range{1, 16});
    v("positions", positions,
      "how the model learns where a token stands: none, sinusoidal, learned");
    v("max_length", max_length, "longest sequence of learned positions", limits::kLength);
    v("tying", tying, "which of the embeddings and the output layer are one table");
    v("dropout", dropout, "of embeddings, of what convolutions see and of what is put out");
  }

  // Of the convolution of a layer.
  size_t dilation(size_t decoder_layer) const {
    return size_t{1} << decoder_layer % dilation_cycle;
  }
  // How many tokens the decoder sees before the current one.
  size_t reach() const;

  void check() const;  // throws ConfigError

  // The settings of its embeddings. Learned positions start as large as word vectors, as published.
  PlacedEmbeddingConfig placed() const {
    return {.scheme = positions, .max_length = max_length, .deviation = 1.0f, .dropout = dropout};
  }
};

// x + GLU(conv(x)), scaled by sqrt(1/2) to keep the variance.
struct ConvEncoderLayer {
  Conv1d conv;
  float dropout = 0.0f;

  ConvEncoderLayer() = default;
  ConvEncoderLayer(const ConvConfig& config, Rng& rng);
  Tensor operator()(const Tensor& x, const Packing& packing) const;  // [rows, hidden] to the same
  void visit(Visitor& v) { v("conv", conv); }
};

// Reads the source.
class ConvEncoder : public SequenceEncoder {
 public:
  ConvConfig config;
  PlacedEmbedding embedding;
  Linear in, out;  // width to hidden and back
  std::vector<ConvEncoderLayer> convolutions;

  ConvEncoder() = default;
  ConvEncoder(const ConvConfig& config, PlacedEmbedding embedding, Rng& rng);
  ConvEncoder(const ConvConfig& config, Rng& rng);  // with an embedding of its own

  // The embedded tokens, and what the layers make of them.
  struct Output {
    Tensor embedded, encoded;  // [rows, width]
  };
  Output operator()(const Tokens& sources) const;

  size_t width() const override { return config.width; }
  Tensor rows(const Tokens& tokens) const override;  // the scaled sum of both
  const Embedding& table() const override { return embedding.table; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& /*sequence*/) const override { return {}; }
  std::optional<size_t> positions() const override { return config.placed().positions(); }
};

// What all layers of a decoder attend to.
struct ConvSource {
  Tensor keys, values;  // [rows, width]
  Packing packing;
};

// The rows of a decoder's call: those of whole sequences, or the next rows of each hypothesis.
struct ConvTarget {
  Tensor embedded;               // [rows, width]
  Packing packing;               // those of each sequence or hypothesis
  Packing by_record;             // those of each record
  std::vector<int32_t> earlier;  // rows of each record before these; empty: none
};

// A causal convolution, followed by attention to the source.
struct ConvDecoderLayer {
  std::string name;  // of its attention, for a Recorder
  Conv1d conv;
  Linear query, context;  // from channels to keys, and from values to channels
  float dropout = 0.0f;

  ConvDecoderLayer() = default;
  ConvDecoderLayer(const ConvConfig& config, size_t layer, Rng& rng);
  // x [rows, hidden] to the same; in steps, `window` has the earlier rows.
  Tensor operator()(const Tensor& x, const ConvTarget& target, const ConvSource& source) const;
  Tensor step(const Tensor& x, const ConvTarget& target, const ConvSource& source,
              ConvWindow& window) const;
  void visit(Visitor& v);

 private:
  // x + h + the context; h [rows, hidden] is the output of the convolution.
  Tensor look(const Tensor& x, const Tensor& h, const ConvTarget& target,
              const ConvSource& source) const;
};

// The encoder-decoder.
class ConvSeq2Seq : public Model, public Generator, public Encoder {
 public:
  ConvSeq2Seq(const ConvConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  const Generator* generator() const override { return this; }
  const Encoder* encoder() const override { return this; }
  SequenceEncoder* shared_encoder() override { return &encoder_; }

  size_t vocabulary() const override { return config_.target_vocabulary; }
  using Generator::start, Generator::step;
  std::unique_ptr<State> start() const override;
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  Forced force(const Batch& inputs, const Tokens& written) const override;

  size_t width() const override { return config_.width; }
  Column encode(const Batch& inputs) const override;

  const ConvConfig& config() const { return config_; }

 private:
  struct Decoding;
  ConvSource read(const Tokens& sources) const;
  Tensor advance(Decoding& decoding, const Tokens& tokens) const;  // rows before the output layer
  Tensor output(const Tensor& x) const;

  ConvConfig config_;
  ConvEncoder encoder_;
  PlacedEmbedding embedding_;
  Linear decoder_in_, decoder_out_;  // width to hidden and back
  std::vector<ConvDecoderLayer> decoder_;
  Linear output_;  // if it is not tied
};

ModelKind conv_kind();

}  // namespace attend
