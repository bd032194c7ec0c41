// How good a model is on text it does not learn from.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "attend/data/corpus.h"
#include "attend/train/objective.h"
#include "attend/train/run_config.h"
#include "attend/train/task.h"

namespace attend {

// Of a part of the loss that has labels of its own, such as one direction of a language model.
struct PartPerplexity {
  std::string name;
  double perplexity = 0;
};

struct ValidationScore {
  double loss = 0;  // nats a label
  double perplexity = 0;
  std::vector<PartPerplexity> parts = {};
  std::optional<double> value;  // of the metric, where that is not the loss
  double score = 0;             // what is compared: the metric's value, or the loss
};

// Measures a model on the validation text.
class Validator {
 public:
  // The corpus is that of the text files, which are read for the references.
  Validator(const RunConfig& config, const Task& task, const Objective& objective,
            const Corpus& corpus, const Signature& signature, const Tokenizers& tokenizers);

  // After so many steps. Nothing if `stop` is set meanwhile.
  std::optional<ValidationScore> operator()(const TextModel& model, int64_t step,
                                            const std::atomic<bool>& stop) const;

  // Lines that are not decoded: the model has no positions for them.
  size_t left_out() const { return judge_ ? judge_->left_out() : 0; }
  // Of all that a score depends on beside the model. Scores of two cannot be compared.
  uint64_t fingerprint() const;

 private:
  // Sets the loss, its perplexity and those of its parts.
  void measure_loss(const TextModel& model, int64_t step, const std::atomic<bool>& stop,
                    ValidationScore& score) const;

  const RunConfig& config_;
  const Objective& objective_;
  const Corpus& corpus_;
  Signature signature_;
  std::unique_ptr<Judge> judge_;  // none: the loss is the score
};

}  // namespace attend
