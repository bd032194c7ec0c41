// A recurrent language model: an embedding, layers of LSTM (or GRU, or a plain RNN), and an output
// layer, with dropout between them and inside the recurrence (Zaremba et al., 2014; Gal and
// Ghahramani, 2016).
#pragma once

#include "attend/base/limits.h"
#include "attend/models/output_layer.h"
#include "attend/models/registry.h"
#include "attend/nn/recurrent.h"
#include "attend/ops/unrolled.h"

namespace attend {

struct LstmConfig {
  size_t text_vocabulary = 0;
  Cell cell = Cell::kLstm;
  size_t embedding = 256, hidden = 256, layers = 2;
  bool tied = true;
  float embedding_dropout = 0.1f, layer_dropout = 0.1f, output_dropout = 0.1f;
  float recurrent_dropout = 0.0f;
  bool variational = false;

  bool operator==(const LstmConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("cell", cell, "the recurrent unit");
    v("embedding", embedding, "width of embeddings", limits::kWidth);
    v("hidden", hidden, "width of states", limits::kWidth);
    v("layers", layers, "recurrent layers", limits::kLayers);
    v("tied", tied,
      "the embedding is the output layer; where it is not as wide as states, they are projected");
    v("embedding_dropout", embedding_dropout, "of embeddings");
    v("layer_dropout", layer_dropout, "between layers");
    v("output_dropout", output_dropout, "before the output layer");
    v("recurrent_dropout", recurrent_dropout,
      "of states inside the recurrence, one mask for all steps of a sequence");
    v("variational", variational,
      "the other dropouts, too, have one mask for all steps of a sequence");
  }

  void check() const;  // throws ConfigError
};

// Everything but the output layer.
class LstmEncoder : public SequenceEncoder {
 public:
  LstmConfig config;
  Embedding embedding;
  Recurrent recurrent;

  LstmEncoder() = default;
  LstmEncoder(const LstmConfig& config, Rng& rng);
  // The input of the first layer, [rows, embedding].
  Tensor embedded(const Tokens& tokens) const;
  // Dropout with one mask per sequence if `variational`, otherwise per row.
  Tensor dropped(const Tensor& x, const Packing& packing, float chance) const;

  size_t width() const override { return config.hidden; }
  Tensor rows(const Tokens& tokens) const override;
  const Embedding& table() const override { return embedding; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& /*sequence*/) const override { return {}; }
  std::optional<size_t> positions() const override { return std::nullopt; }
  bool first_sees_all() const override { return false; }
};

// The language model: predicts each token from those before it.
class LstmLanguageModel : public Model, public Generator, public Encoder {
 public:
  LstmLanguageModel(const LstmConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override { return {{{.name = "text", .written = true}}, {}}; }
  void pack() override;
  const Generator* generator() const override { return this; }
  const Encoder* encoder() const override { return this; }
  SequenceEncoder* shared_encoder() override { return &encoder_; }

  size_t vocabulary() const override { return config_.text_vocabulary; }
  using Generator::start, Generator::step;
  std::unique_ptr<State> start() const override;
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  Forced force(const Batch& inputs, const Tokens& written) const override;
  std::optional<Tensor> logits_of_rows(const Tensor& rows) const override { return output_(rows); }

  // Of the states of the last layer.
  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override;

  const LstmConfig& config() const { return config_; }

 private:
  struct Writing;
  Tensor advance(Writing& writing, const Tokens& tokens) const;  // rows before the output layer

  LstmConfig config_;
  LstmEncoder encoder_;
  OutputLayer output_;
  std::vector<UnrolledCell> packed_;  // the layers, laid out for single steps by pack()
};

ModelKind lstm_kind();

}  // namespace attend
