// Masked language models (Devlin et al., 2019): an encoder that reads both ways, and a head that
// tells what stands where tokens were hidden.
#pragma once

#include <memory>

#include "attend/base/limits.h"
#include "attend/models/encoder_config.h"
#include "attend/nn/linear.h"
#include "attend/nn/norm.h"

namespace attend {

struct MaskedHeadConfig {
  bool transform = true;
  bool pair = false;

  bool operator==(const MaskedHeadConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("transform", transform, "a layer, GELU and a norm before the output layer, as in BERT");
    v("pair", pair, "read two texts, and tell whether they belong together (masking.relation)");
  }
};

// Another encoder than bert's.
struct MaskedConfig {
  size_t text_vocabulary = 0;
  EncoderConfig encoder;
  MaskedHeadConfig head;

  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("encoder", encoder, "what reads the text");
    v("head", head, "what predicts masked tokens");
  }
};

// A model of any encoder whose rows see both sides.
class MaskedModel : public Model, public MaskedPredictor, public Encoder {
 public:
  // Throws ConfigError for an encoder that reads forwards only.
  MaskedModel(std::unique_ptr<SequenceEncoder> encoder, const MaskedHeadConfig& config, Rng& rng,
              float norm_epsilon = 1e-5f);

  void visit(Visitor& v) override;
  void visit_head(Visitor& v);  // all but the encoder
  Signature signature() const override;
  void pack() override;
  const Encoder* encoder() const override { return this; }
  void read_words(std::string_view column, const Tokenizer& tokenizer) override {
    if (column == "text") encoder_->read_words(tokenizer);
  }
  SequenceEncoder* shared_encoder() override { return encoder_.get(); }
  const MaskedPredictor* masked_predictor() const override { return this; }

  size_t vocabulary() const override { return encoder_->table().weight.out(); }
  Predicted predict(const Batch& inputs, const Tensor& rows) const override;

  size_t width() const override { return encoder_->width(); }
  Column encode(const Batch& inputs) const override;

 private:
  Tensor output(const Tensor& rows) const;

  MaskedHeadConfig config_;
  std::unique_ptr<SequenceEncoder> encoder_;
  Linear transform_;  // to the width of the table
  LayerNorm norm_;
  Tensor bias_;               // [vocabulary]; the output layer is the encoder's table
  Linear pooler_, relation_;  // of the start's row
};

ModelKind masked_kind();

}  // namespace attend
