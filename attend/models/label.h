// A classifier of texts, or of pairs of texts: the encoder of another model, pooling of its rows,
// and an output layer over the labels.
#pragma once

#include <string_view>

#include "attend/base/limits.h"
#include "attend/models/pooled_encoder.h"
#include "attend/nn/linear.h"

namespace attend {

struct LabelConfig : PooledEncoderConfig {
  size_t text_vocabulary = 0, label_vocabulary = 0;
  float dropout = 0.1f;
  size_t unused_outputs = 0;

  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v.old("target_vocabulary", label_vocabulary, limits::kVocabulary);
    v("label_vocabulary", label_vocabulary, "labels; set from the labels of the training text",
      limits::kVocabulary);
    PooledEncoderConfig::fields(v);
    v("dropout", dropout, "before the output layer; the encoder has its own");
    v("unused_outputs", unused_outputs,
      "outputs before the first label, which models of earlier versions have", limits::kVocabulary);
  }

  void check() const;  // throws ConfigError
};

// Gives each text one of the labels.
class LabelModel : public Model, public Classifier, public Encoder {
 public:
  LabelModel(const LabelConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  const Classifier* classifier() const override { return this; }
  const Encoder* encoder() const override { return this; }
  void read_words(std::string_view column, const Tokenizer& tokenizer) override {
    if (column == "text") encoder_.encoder->read_words(tokenizer);
  }
  SequenceEncoder* shared_encoder() override { return encoder_.encoder.get(); }

  size_t labels() const override { return config_.label_vocabulary; }
  Tensor label_logits(const Batch& inputs) const override;

  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override { return encoder_.encode(inputs); }
  Tensor attention_pooled(const Column& rows) const override {
    return encoder_.attention_pooled(rows);
  }

  const LabelConfig& config() const { return config_; }

 private:
  LabelConfig config_;
  PooledEncoder encoder_;
  Linear output_;
};

ModelKind label_kind();

}  // namespace attend
