// A language model of LSTMs that attend to their memory (Cheng et al., 2016): each step attends to
// all earlier ones.
#pragma once

#include "attend/attention/lstmn.h"
#include "attend/base/limits.h"
#include "attend/models/output_layer.h"
#include "attend/models/registry.h"

namespace attend {

struct LstmnModelConfig {
  size_t text_vocabulary = 0;
  size_t embedding = 256, hidden = 256, layers = 1;
  size_t attention_width = 0;
  bool tied = true;
  float embedding_dropout = 0.1f, layer_dropout = 0.1f, output_dropout = 0.1f;

  bool operator==(const LstmnModelConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("embedding", embedding, "width of embeddings", limits::kWidth);
    v("hidden", hidden, "width of states", limits::kWidth);
    v("layers", layers, "recurrent layers", limits::kLayers);
    v("attention_width", attention_width, "in which steps are compared; 0: hidden",
      limits::kWidth.or_0());
    v("tied", tied,
      "the embedding is the output layer; where it is not as wide as states, they are projected");
    v("embedding_dropout", embedding_dropout, "of embeddings");
    v("layer_dropout", layer_dropout, "between layers");
    v("output_dropout", output_dropout, "before the output layer");
  }

  void check() const;  // throws ConfigError
};

// Everything but the output layer.
class LstmnEncoder : public SequenceEncoder {
 public:
  LstmnModelConfig config;
  Embedding embedding;
  std::vector<Lstmn> memories;

  LstmnEncoder() = default;
  LstmnEncoder(const LstmnModelConfig& config, Rng& rng);
  // The input of the first layer, [rows, embedding].
  Tensor embedded(const Tokens& tokens) const;

  size_t width() const override { return config.hidden; }
  Tensor rows(const Tokens& tokens) const override;
  const Embedding& table() const override { return embedding; }
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> layers(const std::string& sequence) const override;
  std::optional<size_t> positions() const override { return std::nullopt; }
  bool first_sees_all() const override { return false; }
};

// The language model: predicts each token from those before it.
class LstmnLanguageModel : public Model, public Generator, public Encoder {
 public:
  LstmnLanguageModel(const LstmnModelConfig& config, Rng& rng);

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
  std::optional<Tensor> logits_of_rows(const Tensor& rows) const override { return output_(rows); }

  // Of the states of the last layer.
  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override;

  const LstmnModelConfig& config() const { return config_; }

 private:
  struct Writing;

  LstmnModelConfig config_;
  LstmnEncoder encoder_;
  OutputLayer output_;
};

ModelKind lstmn_kind();

}  // namespace attend
