// A tagger: the encoder of another model, and an output layer that gives a label to each word.
#pragma once

#include "attend/base/limits.h"
#include "attend/models/encoder_config.h"
#include "attend/nn/linear.h"

namespace attend {

struct TaggerConfig {
  size_t text_vocabulary = 0, tags_vocabulary = 0;
  EncoderConfig encoder;
  float dropout = 0.1f;

  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("tags_vocabulary", tags_vocabulary, "tags; set from those of the training text",
      limits::kVocabulary);
    v("encoder", encoder, "what reads the text");
    v("dropout", dropout, "before the output layer; the encoder has its own");
  }

  void check() const;  // throws ConfigError
};

// A word is represented by the row of its last token, which encoders that read forwards know best.
class TaggerModel : public Model, public Tagger, public Encoder {
 public:
  TaggerModel(const TaggerConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  void pack() override;
  const Tagger* tagger() const override { return this; }
  const Encoder* encoder() const override { return this; }
  void read_words(std::string_view column, const Tokenizer& tokenizer) override {
    if (column == "text") encoder_->read_words(tokenizer);
  }
  SequenceEncoder* shared_encoder() override { return encoder_.get(); }

  size_t labels() const override { return config_.tags_vocabulary; }
  Column tag_scores(const Batch& inputs) const override;

  size_t width() const override { return encoder_->width(); }
  Column encode(const Batch& inputs) const override;

  const TaggerConfig& config() const { return config_; }

 private:
  TaggerConfig config_;
  std::unique_ptr<SequenceEncoder> encoder_;
  Linear output_;
};

ModelKind tagger_kind();

}  // namespace attend
