// What training makes smaller: a sum of terms. A new objective is a new term; the trainer does not
// change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/models/generator.h"

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
  virtual std::string name() const = 0;
  // `logits` are those of the batch, which every term may share.
  virtual Tensor sum(const Seq2Seq& model, const TrainingBatch& batch,
                     const Tensor& logits) const = 0;
  virtual double weight() const { return 1.0; }
};

// Cross-entropy with label smoothing, under teacher forcing.
class CrossEntropyTerm : public Term {
 public:
  explicit CrossEntropyTerm(float label_smoothing) : label_smoothing_(label_smoothing) {}
  std::string name() const override { return "cross_entropy"; }
  Tensor sum(const Seq2Seq& model, const TrainingBatch& batch, const Tensor& logits) const override;

 private:
  float label_smoothing_;
};

using Objective = std::vector<std::unique_ptr<Term>>;

// The weighted sum of all terms over a batch, on the tape.
Tensor objective_sum(const Objective& objective, const Seq2Seq& model, const TrainingBatch& batch);

}  // namespace attend
