#include "attend/kernels/cross_entropy.h"

#include <cmath>
#include <functional>
#include <limits>

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

std::vector<int32_t> make_targets(size_t count, size_t width) {
  std::vector<int32_t> targets(count);
  for (size_t i = 0; i < count; ++i) {
    targets[i] = i % 4 == 3 ? kIgnoredTarget : static_cast<int32_t>((i * 7 + width - 1) % width);
  }
  return targets;
}

struct CrossEntropyReference {
  std::vector<double> loss, lse;
  std::vector<std::vector<double>> gradient;  // of the sum of scale[i] loss[i]
};

CrossEntropyReference reference(const TestRows& logits, const std::vector<int32_t>& targets,
                                double smoothing, const std::vector<float>& scale) {
  const size_t width = logits.width();
  CrossEntropyReference r;
  for (size_t i = 0; i < logits.count(); ++i) {
    double largest = logits(i, 0), sum = 0, total = 0;
    for (size_t j = 0; j < width; ++j) largest = std::max<double>(largest, logits(i, j));
    for (size_t j = 0; j < width; ++j) sum += std::exp(logits(i, j) - largest);
    r.lse.push_back(largest + std::log(sum));
    for (size_t j = 0; j < width; ++j) total += r.lse[i] - logits(i, j);
    const bool ignored = targets[i] == kIgnoredTarget;
    const double uniform = smoothing / static_cast<double>(width);
    r.loss.push_back(
        ignored ? 0 : (1 - smoothing) * (r.lse[i] - logits(i, targets[i])) + uniform * total);
    r.gradient.emplace_back(width);
    for (size_t j = 0; j < width && !ignored; ++j) {
      const double q = uniform + (static_cast<int32_t>(j) == targets[i] ? 1 - smoothing : 0);
      r.gradient[i][j] = scale[i] * (std::exp(logits(i, j) - r.lse[i]) - q);
    }
  }
  return r;
}

void for_each_case(const std::function<void(size_t, size_t, float)>& test) {
  for_each_shape([&](size_t count, size_t width) {
    if (width == 0) return;  // no target exists
    for (const float smoothing : {0.0f, 0.1f}) test(count, width, smoothing);
  });
}

TEST(CrossEntropy, LossAndGradientEqualTheReference) {
  for_each_case([&](size_t count, size_t width, float smoothing) {
    TestRows logits(count, width, 1);
    for (size_t j = 0; j < width && count > 1; ++j)
      logits(1, j) += 500.0f;  // shifts change nothing
    const std::vector<int32_t> targets = make_targets(count, width);
    std::vector<float> loss(count), lse(count), scale(count);
    for (size_t i = 0; i < count; ++i) scale[i] = 0.5f + static_cast<float>(i % 3);
    const CrossEntropyReference r = reference(logits, targets, smoothing, scale);
    cross_entropy(logits, targets.data(), smoothing, loss.data(), lse.data());
    expect_near(loss, 4e-5, [&](size_t i) { return r.loss[i]; });
    expect_near(lse, 4e-5, [&](size_t i) { return r.lse[i]; });
    for (const bool add : {false, true}) {
      TestRows dlogits(count, width, 2, 7);
      const TestRows before = dlogits;
      cross_entropy_backward(logits, targets.data(), smoothing,
                             {lse.data(), scale.data(), dlogits, add});
      expect_rows_near(dlogits, 4e-5, [&](size_t i, size_t j) {
        return r.gradient[i][j] + (add ? before(i, j) : 0.0);
      });
    }
    cross_entropy_backward(logits, targets.data(), smoothing,
                           {lse.data(), scale.data(), logits, false});
    expect_rows_near(logits, 4e-5, [&](size_t i, size_t j) { return r.gradient[i][j]; });
  });
}

TEST(CrossEntropy, InPlaceEqualsTheTwoSteps) {
  for_each_case([&](size_t count, size_t width, float smoothing) {
    TestRows logits(count, width, 1);
    const std::vector<int32_t> targets = make_targets(count, width);
    const std::vector<float> scale(count, 0.25f);
    std::vector<float> loss(count), lse(count), loss_in_place(count), lse_in_place(count);
    TestRows dlogits(count, width);
    cross_entropy(logits, targets.data(), smoothing, loss.data(), lse.data());
    cross_entropy_backward(logits, targets.data(), smoothing,
                           {lse.data(), scale.data(), dlogits, false});
    cross_entropy_in_place(logits, targets.data(), smoothing, 0.25f, loss_in_place.data(),
                           lse_in_place.data());
    EXPECT_EQ(loss, loss_in_place);
    EXPECT_EQ(lse, lse_in_place);
    expect_rows_near(logits, 0, [&](size_t i, size_t j) { return dlogits(i, j); });
  });
}

// From torch 2.13: cross_entropy(tensor([[1., 2., 3.], [0., -1., 0.5]]), tensor([2, 0]),
// label_smoothing=0.1, reduction='none').
TEST(CrossEntropy, AgreesWithPyTorch) {
  const float logits[] = {1, 2, 3, 0, -1, 0.5f};
  const int32_t targets[] = {2, 0};
  float loss[2], lse[2];
  cross_entropy(dense_rows(logits, 2, 3), targets, 0.1f, loss, lse);
  EXPECT_NEAR(loss[0], 0.5076059, 1e-6);
  EXPECT_NEAR(loss[1], 1.1207973, 1e-6);
}

// As if the classes that cannot be were not there, whatever the smoothing.
TEST(CrossEntropy, ImpossibleClassesTakeNoPart) {
  for_each_target([&] {
    for (const float smoothing : {0.0f, 0.1f}) {
      TestRows few(1, 17, 1), all(1, 20, 2);
      const auto at = [](size_t j) { return j < 3 ? j : j < 10 ? j + 1 : j + 3; };
      for (size_t j = 0; j < 20; ++j) all(0, j) = -std::numeric_limits<float>::infinity();
      for (size_t j = 0; j < 17; ++j) all(0, at(j)) = few(0, j);
      const int32_t target = 5, target_of_all = 6;
      float loss, lse, loss_of_all, lse_of_all;
      cross_entropy_in_place(few, &target, smoothing, 1.0f, &loss, &lse);
      cross_entropy_in_place(all, &target_of_all, smoothing, 1.0f, &loss_of_all, &lse_of_all);
      EXPECT_NEAR(loss_of_all, loss, 1e-6f);
      EXPECT_NEAR(lse_of_all, lse, 1e-6f);
      for (size_t j = 0; j < 17; ++j) EXPECT_NEAR(all(0, at(j)), few(0, j), 1e-6f) << j;
      for (const size_t j : {3, 11, 12}) EXPECT_EQ(all(0, j), 0.0f) << j;
    }
  });
}

// One class that can be, and is: nothing to lose, nothing to learn.
TEST(CrossEntropy, WhatIsCertainHasNoLossAndNoGradient) {
  for_each_target([&] {
    for (const float smoothing : {0.0f, 0.1f}) {
      TestRows logits(1, 20, 1);
      for (size_t j = 0; j < 20; ++j) logits(0, j) = -std::numeric_limits<float>::infinity();
      logits(0, 2) = 0.0f;
      const int32_t target = 2;
      float loss, lse;
      cross_entropy_in_place(logits, &target, smoothing, 1.0f, &loss, &lse);
      EXPECT_EQ(loss, 0.0f);
      for (size_t j = 0; j < 20; ++j) EXPECT_NEAR(logits(0, j), 0.0f, 1e-7f) << j;
    }
  });
}

}  // namespace
}  // namespace attend::kernels
