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
// They are what the output layer reads: where a changed token changes logits, it changes rows, and
// nowhere else.
inline void expect_encodes_forwards(const Model& model) {
  ASSERT_NE(model.encoder(), nullptr);
  const NoGrad no_grad;
  const Batch texts("text", some_tokens({5, 1, 8}, kTargetTokens, 3));
  const Column rows = model.encoder()->encode(texts);
  ASSERT_EQ(rows.values.shape(), Shape({14, model.encoder()->width()}));
  const Tokens prefix = one_sequence(texts.tokens("text").sequence(2).first(4));
  expect_near(model.encoder()->encode({"text", prefix}).values, rows.values.slice_rows(6, 4));
  Tokens other = some_tokens({5, 1, 8}, kTargetTokens, 3);
  int32_t& changed = other.ids.indices()[6 + 3];
  changed = changed == 4 ? 5 : 4;
  const Tensor after = model.encoder()->encode({"text", other}).values;
  const Tensor before_logits = model.generator()->logits(Batch(3), texts.tokens("text"));
  const Tensor after_logits = model.generator()->logits(Batch(3), other);
  const auto differ = [](const Tensor& a, const Tensor& b, size_t row) {
    return a.slice_rows(row, 1).to_vector() != b.slice_rows(row, 1).to_vector();
  };
  for (size_t row = 0; row < 14; ++row) {
    EXPECT_EQ(differ(after, rows.values, row), differ(after_logits, before_logits, row)) << row;
  }
  EXPECT_TRUE(differ(after, rows.values, 6 + 3));
}

// Where the output layer reads the rows of the last layer as they are.
inline void expect_encodes_last_layer(const Model& model) {
  const NoGrad no_grad;
  const Tokens text = some_tokens({5, 1, 8}, kTargetTokens, 3);
  const Tensor rows = model.encoder()->encode({"text", text}).values;
  const auto logits = model.generator()->logits_of_rows(rows);
  ASSERT_TRUE(logits);
  expect_same(*logits, model.generator()->logits(Batch(3), text));
}

}  // namespace attend
