#include "attend/tensor/tape.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

using Values = std::vector<float>;

Tensor leaf(std::initializer_list<float> values, const Shape& shape) {
  return Tensor::of(values, shape).require_grad();
}

TEST(Tape, GradientReachesTheLeaf) {
  const Tensor x = leaf({1, 2, 3}, {3});
  backward(sum(multiply(x, x)));
  EXPECT_EQ(x.grad().to_vector(), (Values{2, 4, 6}));
}

TEST(Tape, SharedInputGetsBothContributions) {
  const Tensor x = leaf({3}, {1});
  const Tensor y = scale(x, 2.0f);
  backward(sum(add(multiply(y, y), y)));  // 4 x^2 + 2 x
  EXPECT_EQ(x.grad().to_vector(), (Values{26}));
}

TEST(Tape, LeafGradientsAddUpUntilCleared) {
  const Tensor x = leaf({1, 1}, {2});
  backward(sum(scale(x, 3.0f)));
  backward(sum(scale(x, 4.0f)));
  EXPECT_EQ(x.grad().to_vector(), (Values{7, 7}));
  x.clear_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Tape, LeafGradientStaysInPlace) {
  const Tensor x = leaf({1, 1}, {2});
  backward(sum(scale(x, 3.0f)));
  const Tensor held = x.grad();
  backward(sum(scale(x, 4.0f)));
  EXPECT_EQ(held.to_vector(), (Values{7, 7}));
}

TEST(Tape, GradientOfAViewIsAViewOfTheGradient) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  backward(sum(scale(x.slice_columns(1, 2), 5.0f)));
  EXPECT_EQ(x.grad().to_vector(), (Values{0, 5, 5, 0, 5, 5}));
  x.clear_grad();
  backward(sum(multiply(x.slice_rows(0, 1), x.slice_rows(1, 1))));
  EXPECT_EQ(x.grad().to_vector(), (Values{4, 5, 6, 1, 2, 3}));
  x.clear_grad();
  backward(sum(scale(x.reshape({3, 2}).slice_rows(2, 1), 2.0f)));
  EXPECT_EQ(x.grad().to_vector(), (Values{0, 0, 0, 0, 2, 2}));
}

TEST(Tape, GradientHandedThroughIsNotSharedWhenAddedTo) {
  // y + y hands its gradient to y twice, and the two branches must not see each other's sums.
  const Tensor x = leaf({2}, {1});
  const Tensor a = scale(x, 1.0f), b = scale(x, 1.0f);
  const Tensor c = add(a, b);
  backward(sum(add(c, add(a, multiply(b, b)))));  // 3 x + x^2
  EXPECT_EQ(x.grad().to_vector(), (Values{7}));
}

TEST(Tape, NoGradRecordsNothing) {
  const Tensor x = leaf({1}, {1});
  {
    const NoGrad no_grad;
    EXPECT_FALSE(grad_enabled());
    EXPECT_FALSE(scale(x, 2.0f).needs_grad());
  }
  EXPECT_TRUE(grad_enabled());
  EXPECT_TRUE(scale(x, 2.0f).needs_grad());
}

TEST(Tape, DetachedIsAConstant) {
  const Tensor x = leaf({3}, {1});
  backward(sum(multiply(x, x.detach())));
  EXPECT_EQ(x.grad().to_vector(), (Values{3}));
}

TEST(Tape, SeedIsTheGradientOfTheOutput) {
  const Tensor x = leaf({1, 2}, {2});
  backward(scale(x, 2.0f), Tensor::of({10, 100}, {2}));
  EXPECT_EQ(x.grad().to_vector(), (Values{20, 200}));
}

TEST(Tape, RefusesWhatCannotBeRun) {
  const Tensor x = leaf({1, 2}, {2});
  EXPECT_THROW(backward(scale(x, 2.0f)), ShapeError);
  EXPECT_THROW(backward(scale(x, 2.0f), Tensor::zeros({3})), ShapeError);
  EXPECT_THROW(backward(Tensor::zeros({1})), ConfigError);
}

TEST(Tape, SecondRunSaysThatTheTapeIsGone) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = sum(multiply(x, x));
  backward(y);
  EXPECT_THROW(backward(y), ConfigError);
}

TEST(Tape, FreesMemoryOnTheWay) {
  const Tensor x = Tensor::zeros({1 << 16}).require_grad();
  const size_t before = pool_statistics().bytes_in_use;
  {
    Tensor y = x;
    for (int i = 0; i < 10; ++i) y = multiply(y, y);
    const Tensor total = sum(y);
    y = Tensor();
    const size_t recorded = pool_statistics().bytes_in_use - before;
    EXPECT_GE(recorded, 9u << 18);
    reset_peak_bytes();
    backward(total);
    EXPECT_LE(pool_statistics().peak_bytes_in_use - before, recorded + (4u << 18));
    EXPECT_LE(pool_statistics().bytes_in_use - before, (1u << 18) + 4096);  // the leaf's gradient
  }
  x.clear_grad();
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
}

TEST(Tape, LongChainsDoNotExhaustTheStack) {
  const Tensor x = leaf({0}, {1});
  Tensor kept = x, dropped = x;
  for (int i = 0; i < 200000; ++i) {
    kept = add_scalar(kept, 1.0f);
    dropped = add_scalar(dropped, 1.0f);
  }
  backward(kept);
  EXPECT_EQ(x.grad().item(), 1.0f);
  dropped = Tensor();
}

TEST(Checkpoint, GivesTheSameValueAndGradients) {
  const Tensor x = leaf({1, -2, 3}, {3}), weight = leaf({2, 3, 4}, {3});
  const auto block = [weight](std::span<const Tensor> in) {
    const Tensor hidden = multiply(in[0], weight);
    return multiply(hidden, hidden);
  };
  const Tensor plain = block(std::vector{x});
  backward(sum(plain));
  const Values dx = x.grad().to_vector(), dw = weight.grad().to_vector();
  x.clear_grad();
  weight.clear_grad();

  const Tensor y = checkpoint(block, {x});
  EXPECT_EQ(y.to_vector(), plain.to_vector());
  backward(sum(y));
  EXPECT_EQ(x.grad().to_vector(), dx);
  EXPECT_EQ(weight.grad().to_vector(), dw);
}

TEST(Checkpoint, TrainsParametersWhenTheInputNeedsNoGradient) {
  const Tensor x = Tensor::of({1, 2}, {2}), weight = leaf({3, 4}, {2});
  backward(
      sum(checkpoint([&](std::span<const Tensor> in) { return multiply(in[0], weight); }, {x})));
  EXPECT_EQ(weight.grad().to_vector(), (Values{1, 2}));
}

TEST(Checkpoint, SeesTheSameRandomNumbersAgain) {
  const Tensor x = Tensor::full({1000}, 1.0f).require_grad();
  const TrainingScope training(Rng(5));
  const Tensor y = checkpoint([](std::span<const Tensor> in) { return dropout(in[0], 0.5f); }, {x});
  const Tensor after = dropout(x, 0.5f);
  backward(sum(y));
  EXPECT_EQ(x.grad().to_vector(), y.to_vector());
  EXPECT_NE(after.to_vector(), y.to_vector());
}

TEST(Checkpoint, KeepsNoInnerValues) {
  const Tensor x = Tensor::zeros({1 << 16}).require_grad();
  const auto deep = [](std::span<const Tensor> in) {
    Tensor y = in[0];
    for (int i = 0; i < 8; ++i) y = multiply(y, y);
    return y;
  };
  const size_t before = pool_statistics().bytes_in_use;
  const Tensor y = checkpoint(deep, {x});
  EXPECT_LE(pool_statistics().bytes_in_use - before, (1u << 18) + 4096);
}

}  // namespace
}  // namespace attend
