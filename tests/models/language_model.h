// What tests of language models share beyond those of all generators.
#pragma once

#include "attend/base/parallel.h"
#include "attend/tensor/training.h"
#include "tests/models/generators.h"

namespace attend {

// Outside training there is no dropout; inside, the same place in the random numbers gives the same
// bits, for any number of threads. `make` gives the same model each time, with dropout.
template <typename Make>
void expect_trains_alike_on_any_threads(const Make& make) {
  const Tokens written = some_tokens({24, 12, 35, 4, 4, 31, 18, 9, 22, 7}, kTargetTokens, 4);
  const Batch inputs(written.count());
  std::vector<std::vector<float>> first;
  for (const int threads : {1, 2, 3}) {
    const ThreadCountScope scope(threads);
    auto model = make();
    const std::vector<float> still = model.logits(inputs, written).to_vector();
    EXPECT_EQ(still, model.logits(inputs, written).to_vector());
    const TrainingScope training(Rng(1));
    const Tensor logits = model.logits(inputs, written);
    EXPECT_NE(still, logits.to_vector());
    backward(cross_entropy(logits, written.ids));
    std::vector<std::vector<float>> grads;
    for (const NamedTensor& p : parameters(model)) grads.push_back(p.tensor.grad().to_vector());
    if (first.empty()) first = grads;
    EXPECT_EQ(first, grads) << threads;
  }
}

// A batch may hold sequences of nothing, or none at all.
inline void expect_takes_empty_sequences(const Generator& model) {
  const NoGrad no_grad;
  const Tokens written = some_tokens({3, 0, 2}, kTargetTokens, 2);
  const Tensor logits = model.logits(Batch(3), written);
  for (const float x : logits.span()) ASSERT_TRUE(std::isfinite(x));
  expect_near(step_by_step(model, Batch(3), written), logits);
  EXPECT_EQ(model.logits(Batch(), some_tokens({}, kTargetTokens, 2)).shape(),
            Shape({0, model.vocabulary()}));
}

// The rows of the encoder facet are those of each text by itself, and depend on nothing to come.
inline void expect_encodes_forwards(const Model& model) {
  ASSERT_NE(model.encoder(), nullptr);
  const NoGrad no_grad;
  const Batch texts("text", some_tokens({5, 1, 8}, kTargetTokens, 3));
  const Column rows = model.encoder()->encode(texts);
  ASSERT_EQ(rows.values.shape(), Shape({14, model.encoder()->width()}));
  const Tokens prefix = one_sequence(texts.tokens("text").sequence(2).first(4));
  expect_near(model.encoder()->encode({"text", prefix}).values, rows.values.slice_rows(6, 4));
}

}  // namespace attend
