// A label as a sequence of one: the encoder of another model, its rows pooled into one, and an
// output layer over the labels. As a Generator it writes a token and ends, so that whatever trains,
// searches, scores and measures sequences does the same with labels.
#pragma once

#include <variant>

#include "attend/attention/pooling.h"
#include "attend/base/limits.h"
#include "attend/models/conv.h"
#include "attend/models/rnn.h"
#include "attend/models/transformer.h"

namespace attend {

enum class EncoderKind { kTransformer, kRnn, kConv };
EncoderKind encoder_kind_from_name(std::string_view name);  // throws ConfigError with the choices
std::string_view name_of(EncoderKind kind);

// How the rows of a sequence become one.
enum class LabelPooling {
  kMean,
  kFirst,      // that of a start put before the sequence (BERT; Devlin et al., 2019)
  kAttention,  // a learned query looks at them (Lee et al., 2019)
};
LabelPooling label_pooling_from_name(std::string_view name);
std::string_view name_of(LabelPooling pooling);

struct LabelConfig {
  size_t target_vocabulary = 0;
  EncoderKind encoder = EncoderKind::kTransformer;
  LabelPooling pooling = LabelPooling::kMean;
  size_t heads = 1;
  float dropout = 0.1f;

  bool operator==(const LabelConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("target_vocabulary", target_vocabulary,
      "labels and special tokens; known from their tokenizer", limits::kVocabulary);
    v("encoder", encoder, "what reads; its settings are those of the model of that name");
    v("pooling", pooling, "how its rows become one");
    v("heads", heads, "of attention pooling", limits::kHeads);
    v("dropout", dropout, "of what the output layer sees; the encoder has its own");
  }

  void check() const;  // throws ConfigError
};

using Encoder = std::variant<TransformerEncoder, RnnEncoder, ConvEncoder>;

class LabelModel : public Seq2Seq {
 public:
  // Throws ConfigError where the encoder's first row cannot have seen the others.
  LabelModel(const LabelConfig& config, Encoder encoder, Rng& rng);

  size_t vocabulary() const override { return config_.target_vocabulary; }
  std::unique_ptr<State> start(const Tokens& sources) const override;
  Tensor step(State& state, std::span<const int32_t> tokens) const override;
  // The labels' logits after the first row of a target; nothing but the end after the others. In
  // training a target of several tokens is a DataError.
  Tensor logits(const Tokens& sources, const Tokens& inputs) const override;
  void visit(Visitor& v) override;
  std::vector<AttentionLayer> attention_layers() const override;

  const LabelConfig& config() const { return config_; }

 private:
  struct Decoding;
  bool attends() const { return config_.pooling == LabelPooling::kAttention; }
  Tokens read(const Tokens& sources) const;                         // as the encoder sees them
  Tensor encode(const Tokens& read) const;                          // [rows, width]
  Tensor pooled(const Tensor& rows, const Packing& packing) const;  // [sources, width]
  Tensor queries(size_t count) const;
  Tensor labels(const Tensor& pooled) const;  // [rows, width] to [rows, vocabulary]
  Tensor ends(size_t rows) const;             // [rows, vocabulary]

  LabelConfig config_;
  Encoder encoder_;
  AttentionPooling pooling_;
  Linear output_;
};

}  // namespace attend
