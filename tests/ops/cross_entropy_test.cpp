#include "attend/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"
#include "tests/plain/rows.h"

namespace attend {
namespace {

using plain::Plain;

// Target i is i modulo the classes; every fourth row is ignored.
Tensor some_targets(size_t rows, size_t classes) {
  Tensor targets = Tensor::empty({rows}, DType::kInt32);
  for (size_t i = 0; i < rows; ++i) {
    targets.indices()[i] = i % 4 == 3 ? kIgnoredTarget : static_cast<int32_t>(i % classes);
  }
  return targets;
}

Plain plain_cross_entropy(const Plain& logits, const CrossEntropyOptions& options) {
  const Plain logs = plain::log_softmax(logits);
  const Tensor targets = some_targets(logits.rows(), logits.width());
  Plain losses(Shape{logits.rows()});
  double total = 0, counted = 0;
  for (size_t i = 0; i < logits.rows(); ++i) {
    const int32_t target = targets.indices()[i];
    if (target == kIgnoredTarget) continue;
    double sum = 0;
    for (size_t j = 0; j < logits.width(); ++j) sum += logs(i, j);
    losses.values[i] = -(1.0 - options.label_smoothing) * logs(i, static_cast<size_t>(target)) -
                       options.label_smoothing * sum / static_cast<double>(logits.width());
    total += losses.values[i];
    counted += 1;
  }
  if (options.reduction == Reduction::kNone) return losses;
  Plain y{Shape{}};
  y.values[0] = options.reduction == Reduction::kMean && counted > 0 ? total / counted : total;
  return y;
}

OpCase cross_entropy_case(const char* name, CrossEntropyOptions options) {
  return {
      .name = name,
      .shapes = {{{6, 5}}, {{1, 3}}, {{0, 4}}, {{9, 33}}},
      .op =
          [options](const std::vector<Tensor>& in) {
            return cross_entropy(in[0], some_targets(in[0].rows(), in[0].width()), options);
          },
      .plain =
          [options](const std::vector<Plain>& in) { return plain_cross_entropy(in[0], options); },
      .large = {{200, 1003}}};
}

const RegisterOps kCrossEntropyCases({
    cross_entropy_case("CrossEntropyMean", {}),
    cross_entropy_case("CrossEntropySum", {.reduction = Reduction::kSum}),
    cross_entropy_case("CrossEntropyRows", {.reduction = Reduction::kNone}),
    cross_entropy_case("CrossEntropySmoothed", {.label_smoothing = 0.1f}),
    cross_entropy_case("CrossEntropySmoothedRows",
                       {.label_smoothing = 0.3f, .reduction = Reduction::kNone}),
});

// (w0 l0 + w1 l1) / (w0 + w1), as PyTorch has it.
TEST(CrossEntropy, ClassesHaveWeights) {
  const Tensor logits = Tensor::of({0, 0, 0, std::log(3.0f), 5, 1}, {3, 2}).require_grad();
  const Tensor targets = Tensor::ids({0, 1, kIgnoredTarget});
  const Tensor weights = Tensor::of({2.0f, 0.5f}, {2});
  const double first = std::log(2.0), second = -std::log(0.75);
  EXPECT_EQ(target_weight(targets, weights), 2.5);
  const auto loss = [&](Reduction reduction) {
    return cross_entropy(logits, targets, {.reduction = reduction, .class_weights = weights});
  };
  EXPECT_NEAR(loss(Reduction::kSum).item(), 2 * first + 0.5 * second, 1e-6);
  EXPECT_NEAR(loss(Reduction::kNone).data()[0], 2 * first, 1e-6);
  const Tensor mean = loss(Reduction::kMean);
  EXPECT_NEAR(mean.item(), (2 * first + 0.5 * second) / 2.5, 1e-6);
  backward(mean);
  const std::vector<float> expected = {
      -1.0f * 2 / 2.5f / 2, 1.0f * 2 / 2.5f / 2, 0.25f * 0.5f / 2.5f, -0.25f * 0.5f / 2.5f, 0, 0};
  const std::vector<float> found = logits.grad().to_vector();
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6f) << i;
  expect_error<ShapeError>(
      [&] { cross_entropy(logits, targets, {.class_weights = Tensor::zeros({3})}); },
      "3 class weights for 2 classes");
}

TEST(CrossEntropy, IgnoredRowsGetNoGradient) {
  const Tensor logits = Tensor::of({1, 2, 3, 4}, {2, 2}).require_grad();
  backward(cross_entropy(logits, Tensor::ids({kIgnoredTarget, 1})));
  EXPECT_EQ(logits.grad().to_vector()[0], 0.0f);
  EXPECT_EQ(logits.grad().to_vector()[1], 0.0f);
  EXPECT_NE(logits.grad().to_vector()[2], 0.0f);
}

TEST(CrossEntropy, AllIgnoredIsZero) {
  const Tensor logits = Tensor::of({1, 2}, {1, 2}).require_grad();
  const Tensor loss = cross_entropy(logits, Tensor::ids({kIgnoredTarget}));
  EXPECT_EQ(loss.item(), 0.0f);
  backward(loss);
  EXPECT_EQ(logits.grad().to_vector(), (std::vector<float>{0, 0}));
}

TEST(CrossEntropy, StaysFiniteForHugeLogits) {
  EXPECT_EQ(cross_entropy(Tensor::of({1e4f, -1e4f}, {1, 2}), Tensor::ids({0})).item(), 0.0f);
  EXPECT_EQ(cross_entropy(Tensor::of({1e4f, -1e4f}, {1, 2}), Tensor::ids({1})).item(), 2e4f);
}

TEST(CrossEntropy, NamesWhatIsWrong) {
  const Tensor logits = Tensor::zeros({2, 3});
  EXPECT_EQ(message_of([&] {
              cross_entropy(logits, Tensor::ids({1, 2, 0}));
            }),
            "cross_entropy: logits [2, 3] need 2 int32 targets, not [3]");
  EXPECT_EQ(message_of<DataError>([&] {
              cross_entropy(logits, Tensor::ids({1, 3}));
            }),
            "cross_entropy: target 3 of row 1 is not one of 3 classes");
  EXPECT_THROW(cross_entropy(logits, Tensor::ids({1, -2})), DataError);
  EXPECT_THROW(cross_entropy(logits, Tensor::ids({1, 2}), {.label_smoothing = 1.5f}), ConfigError);
}

}  // namespace
}  // namespace attend
