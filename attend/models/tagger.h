// A tagger: the encoder of another model, and an output layer that gives a label to each word, by
// itself or with a conditional random field over the labels of a text (Huang et al., 2015).
#pragma once

#include <optional>

#include "attend/base/limits.h"
#include "attend/metrics/tags.h"
#include "attend/models/encoder_config.h"
#include "attend/nn/crf.h"
#include "attend/nn/linear.h"

namespace attend {

// How the scores of tags become probabilities.
enum class TagOutput {
  kSoftmax,  // each word by itself
  kCrf,      // a conditional random field: all words of a text together
};
std::string_view name_of(TagOutput output);

struct TaggerConfig {
  size_t text_vocabulary = 0, tags_vocabulary = 0;
  EncoderConfig encoder;
  TagOutput output = TagOutput::kSoftmax;
  std::optional<TagScheme> scheme;
  float dropout = 0.1f;

  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "tokens of the text; set from its tokenizer",
      limits::kVocabulary);
    v("tags_vocabulary", tags_vocabulary, "tags; set from those of the training text",
      limits::kVocabulary);
    v("encoder", encoder, "what reads the text");
    v("output", output, "each tag by itself, or a conditional random field over those of a text");
    v("scheme", scheme,
      "which tags may follow one another in what the model gives; none: what all tags of the "
      "training text follow");
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
  void read_words(std::string_view column, const Tokenizer& tokenizer) override;
  SequenceEncoder* shared_encoder() override { return encoder_.get(); }

  size_t labels() const override { return config_.tags_vocabulary; }
  Column tag_scores(const Batch& inputs) const override;
  Tensor tag_loss(const Batch& inputs, const Tensor& gold,
                  const TagLossOptions& options) const override;
  DecodedTags decode_tags(const Batch& inputs) const override;

  size_t width() const override { return encoder_->width(); }
  Column encode(const Batch& inputs) const override;

  const TaggerConfig& config() const { return config_; }

 private:
  TaggerConfig config_;
  std::unique_ptr<SequenceEncoder> encoder_;
  Linear output_;
  std::optional<Crf> crf_;
  std::optional<CrfWeights> rules_;  // which steps the scheme allows; none: all
};

ModelKind tagger_kind();

}  // namespace attend
