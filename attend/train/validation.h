// How good a model is on text it does not learn from.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "attend/data/corpus.h"
#include "attend/data/reference_texts.h"
#include "attend/decode/translator.h"
#include "attend/train/run_config.h"

namespace attend {

struct ValidationScore {
  double loss = 0;  // nats a token
  double perplexity = 0;
  std::optional<double> value;  // of the metric, where it needs decoding
  double score = 0;             // what is compared: the metric's value, or the loss
};

class Validator {
 public:
  // The corpus is that of the text files, which are read for the references; `source` counts the
  // tokens of their lines.
  Validator(const RunConfig& config, const Corpus& corpus, const Tokenizer& source);

  // Nothing if `stop` is set meanwhile.
  std::optional<ValidationScore> operator()(const TextModel& model,
                                            const std::atomic<bool>& stop) const;

  // Lines that are not decoded: the model has learned no places for them.
  size_t left_out() const { return left_out_; }
  // Of all that a score depends on beside the model. Scores of two cannot be compared.
  uint64_t fingerprint() const;

 private:
  double loss(const Seq2Seq& model, const std::atomic<bool>& stop) const;
  double decoded(const TextModel& model, const std::atomic<bool>& stop) const;

  const RunConfig& config_;
  const Corpus& corpus_;
  ReferenceTexts texts_;  // that are decoded
  size_t left_out_ = 0;
};

}  // namespace attend
