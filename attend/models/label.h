// A classifier of texts: the encoder of another model, pooling of its rows, and an output layer
// over the labels.
#pragma once

#include <string_view>

#include "attend/attention/pooling.h"
#include "attend/base/limits.h"
#include "attend/models/model_config.h"
#include "attend/nn/linear.h"

namespace attend {

// How the rows of a sequence are pooled into one.
enum class LabelPooling {
  kMean,
  kFirst,      // that of the start token (BERT; Devlin et al., 2019)
  kLast,       // that of the end token, for encoders that read forwards (Radford et al., 2018)
  kAttention,  // attention by a learned query (Lee et al., 2019)
};
std::string_view name_of(LabelPooling pooling);

// A kind of encoder and its settings.
struct EncoderConfig : KindConfig<encoder_kind_names> {
  EncoderConfig() : KindConfig("transformer") {}
};

struct LabelConfig {
  size_t text_vocabulary = 0, label_vocabulary = 0;
  EncoderConfig encoder;
  LabelPooling pooling = LabelPooling::kMean;
  size_t heads = 1;
  float dropout = 0.1f;
  size_t unused_outputs = 0;

  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v.old("target_vocabulary", label_vocabulary, limits::kVocabulary);
    v("label_vocabulary", label_vocabulary, "labels; set from the labels of the training text",
      limits::kVocabulary);
    v("encoder", encoder, "what reads the text");
    v("pooling", pooling, "how the encoder's rows become one");
    v("heads", heads, "of attention pooling", limits::kHeads);
    v("dropout", dropout, "before the output layer; the encoder has its own");
    v("unused_outputs", unused_outputs,
      "outputs before the first label, which models of earlier versions have", limits::kVocabulary);
  }

  void check() const;  // throws ConfigError
};

// Gives each text one of the labels.
class LabelModel : public Model, public Classifier, public Encoder {
 public:
  // Throws ConfigError for kFirst if the encoder's first row does not see the others.
  LabelModel(const LabelConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  const Classifier* classifier() const override { return this; }
  const Encoder* encoder() const override { return this; }

  size_t labels() const override { return config_.label_vocabulary; }
  Tensor label_logits(const Batch& inputs) const override;

  size_t width() const override { return encoder_->width(); }
  Column encode(const Batch& inputs) const override;

  const LabelConfig& config() const { return config_; }

 private:
  Tensor pooled(const Tensor& rows, const Packing& packing) const;  // [records, width]

  LabelConfig config_;
  std::unique_ptr<SequenceEncoder> encoder_;
  AttentionPooling pooling_;
  Linear output_;
};

ModelKind label_kind();

}  // namespace attend
