// An encoder whose rows become one for each record: what reads for classifiers and regression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attend/attention/pooling.h"
#include "attend/base/limits.h"
#include "attend/models/encoder_config.h"
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

struct PooledEncoderConfig {
  EncoderConfig encoder;
  bool pair = false;
  LabelPooling pooling = LabelPooling::kMean;
  size_t heads = 1;
  bool pooler = false;

  template <typename V>
  void fields(V& v) {
    v("encoder", encoder, "what reads the text");
    v("pair", pair, "reads two texts as one sequence; set where the data has them");
    v("pooling", pooling, "how the encoder's rows become one");
    v("heads", heads, "of attention pooling", limits::kHeads);
    v("pooler", pooler, "a layer with tanh after the pooling, as in BERT");
  }

  void set_size(const ModelSize& size);  // of the encoder
  void fit_pooling();                    // as is right for the encoder
};

// Reads one text or two (models/text_pair.h).
struct PooledEncoder {
  PooledEncoderConfig config;
  std::unique_ptr<SequenceEncoder> encoder;
  AttentionPooling pooling;
  Linear pooler;

  PooledEncoder() = default;
  // Throws ConfigError, which begins with `model`, for kFirst if the encoder's first row does not
  // see the others.
  PooledEncoder(std::string_view model, const PooledEncoderConfig& config, size_t vocabulary,
                Rng& rng);

  size_t width() const { return encoder->width(); }
  Column encode(const Batch& inputs) const;           // a row for each token
  Tensor attention_pooled(const Column& rows) const;  // undefined with another pooling
  Tensor operator()(const Batch& inputs) const;       // [records, width]
  // Of a model that writes one column, whose attention pooling is a layer too.
  Signature signature(const ColumnSpec& written) const;
  void visit(Visitor& v);
};

}  // namespace attend
