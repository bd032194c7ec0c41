// Regression: a number for a text or a pair of texts, from the encoder of another model.
#pragma once

#include "attend/base/limits.h"
#include "attend/models/pooled_encoder.h"

namespace attend {

struct RegressionConfig : PooledEncoderConfig {
  size_t text_vocabulary = 0;
  float dropout = 0.1f;
  double mean = 0.0, deviation = 1.0;

  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    PooledEncoderConfig::fields(v);
    v("dropout", dropout, "before the output layer; the encoder has its own");
    v("mean", mean, "of the numbers; set from those of the training text");
    v("deviation", deviation, "of the numbers; set from those of the training text");
  }

  void check() const;  // throws ConfigError
};

// What the output layer gives is a number in units of the deviation, from the mean.
class RegressionModel : public Model, public Regressor, public Encoder {
 public:
  RegressionModel(const RegressionConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  void pack() override;
  const Regressor* regressor() const override { return this; }
  const Encoder* encoder() const override { return this; }
  void read_words(std::string_view column, const Tokenizer& tokenizer) override {
    if (column == "text") encoder_.encoder->read_words(tokenizer);
  }
  SequenceEncoder* shared_encoder() override { return encoder_.encoder.get(); }

  Tensor standard_numbers(const Batch& inputs) const override;
  double mean() const override { return config_.mean; }
  double deviation() const override { return config_.deviation; }

  size_t width() const override { return encoder_.width(); }
  Column encode(const Batch& inputs) const override { return encoder_.encode(inputs); }
  Tensor attention_pooled(const Column& rows) const override {
    return encoder_.attention_pooled(rows);
  }

  const RegressionConfig& config() const { return config_; }

 private:
  RegressionConfig config_;
  PooledEncoder encoder_;
  Linear output_;
};

ModelKind regression_kind();

}  // namespace attend
