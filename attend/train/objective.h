// What training makes smaller: a sum of terms. A new objective is a new term; the trainer does not
// change.
#pragma once

#include <memory>
#include <vector>

#include "attend/models/generator.h"
#include "attend/train/run_config.h"

namespace attend {

// One batch as a term sees it: sources, what the decoder reads, and what it should write.
struct TrainingBatch {
  Tokens sources, inputs;
  Tensor labels;  // int32 [rows of inputs]

  size_t label_count() const { return labels.size(); }
};

// A part of the loss, summed over the labels of a batch.
class Term {
 public:
  virtual ~Term() = default;
  // `taught` is what the model said to the batch, which all terms share.
  virtual Tensor sum(const Seq2Seq& model, const TrainingBatch& batch,
                     const Taught& taught) const = 0;
  virtual double weight() const { return 1.0; }
};

// Cross-entropy with label smoothing, under teacher forcing.
class CrossEntropyTerm : public Term {
 public:
  explicit CrossEntropyTerm(float label_smoothing) : label_smoothing_(label_smoothing) {}
  Tensor sum(const Seq2Seq& model, const TrainingBatch& batch, const Taught& taught) const override;

 private:
  float label_smoothing_;
};

// What attention lays on places that it has seen already (See et al., 2017).
class CoverageTerm : public Term {
 public:
  explicit CoverageTerm(double weight) : weight_(weight) {}
  // Throws ConfigError where the model does not attend with coverage.
  Tensor sum(const Seq2Seq& model, const TrainingBatch& batch, const Taught& taught) const override;
  double weight() const override { return weight_; }

 private:
  double weight_;
};

using Objective = std::vector<std::unique_ptr<Term>>;

// The terms that a config asks for.
Objective objective_of(const TrainingConfig& config);

// The weighted sum of all terms over a batch, on the tape.
Tensor objective_sum(const Objective& objective, const Seq2Seq& model, const TrainingBatch& batch);

}  // namespace attend
