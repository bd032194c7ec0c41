// A bidirectional recurrent language model (Peters et al., 2018): two stacks of LSTMs, one of which
// predicts each token from those before it and the other from those after it. Its vectors are a
// learned mixture of all layers of both.
#pragma once

#include <vector>

#include "attend/base/limits.h"
#include "attend/models/output_layer.h"
#include "attend/models/registry.h"
#include "attend/nn/recurrent.h"

namespace attend {

struct ElmoConfig {
  size_t text_vocabulary = 0;
  Cell cell = Cell::kLstm;
  size_t width = 256, layers = 2;
  bool residual = true, mix_norm = true, tied = true;
  float dropout = 0.1f, recurrent_dropout = 0.0f;

  bool operator==(const ElmoConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("cell", cell, "the recurrent unit");
    v("width", width, "of embeddings, and of states in each direction", limits::kWidth);
    v("layers", layers, "recurrent layers in each direction", limits::kLayers);
    v("residual", residual, "a layer above the first adds to what it reads");
    v("mix_norm", mix_norm,
      "normalise each layer before the mixture, so that it weighs what the mixture says");
    v("tied", tied, "the embedding is the output layer");
    v("dropout", dropout, "of embeddings, between layers and before the output layer");
    v("recurrent_dropout", recurrent_dropout,
      "of states inside the recurrence, one mask for all steps of a sequence");
  }

  void check() const;  // throws ConfigError
};

// Everything but the output layer. What a direction has read ends at each row, so its state there
// depends on nothing that it has still to predict.
class ElmoEncoder : public SequenceEncoder {
 public:
  ElmoConfig config;
  Embedding embedding;
  std::vector<Recurrent> stack;  // one layer in both directions each
  Tensor mix;                    // [layers + 1]: the shares of embedding and layers, as logits
  Tensor gamma;                  // [1]: multiplies the mixture

  ElmoEncoder() = default;
  ElmoEncoder(const ElmoConfig& config, Rng& rng);

  // [rows, width] of the embedding, then of each layer.
  struct Directions {
    std::vector<Tensor> forward, backward;
  };
  Directions directions(const Tokens& tokens) const;
  Tensor shares() const;  // [layers + 1], which add up to 1
  Tensor dropped(const Tensor& x) const;

  size_t width() const override { return 2 * config.width; }
  Tensor rows(const Tokens& tokens) const override;
  const Embedding& table() const override { return embedding; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& /*sequence*/) const override { return {}; }
  std::optional<size_t> positions() const override { return std::nullopt; }
  bool wants_start() const override { return true; }
};

// The language model in both directions, which share the embedding and the output layer.
class ElmoModel : public Model, public BidirectionalPredictor, public Encoder {
 public:
  ElmoModel(const ElmoConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  void pack() override;
  const Encoder* encoder() const override { return this; }
  SequenceEncoder* shared_encoder() override { return &encoder_; }
  const BidirectionalPredictor* bidirectional_predictor() const override { return this; }

  size_t vocabulary() const override { return encoder_.config.text_vocabulary; }
  Predicted predict_both(const Batch& inputs) const override;

  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override;

 private:
  ElmoEncoder encoder_;
  OutputLayer output_;
};

ModelKind elmo_kind();

}  // namespace attend
