#include "attend/kernels/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attend/base/parallel.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {
namespace {

const Dropout kOptions{0.1f, RandomStream(0x123456789ABCDEF0, 0xFEDCBA9876543210)};

// The definition in dropout.h, one element at a time.
bool kept(size_t i, const Dropout& options) {
  const size_t group = i / 16 % 4;
  const auto block =
      philox(options.random.seed(), 8 * (i / 64) + i % 16 / 2, options.random.stream());
  return ((block[2 * (group / 2) + i % 2] >> (16 * (group % 2))) & 0xFFFF) < options.threshold();
}

std::vector<float> numbers(size_t size, uint64_t stream) {
  std::vector<float> x(size);
  fill_normal(x, RandomStream(7, stream), 0.0f, 1.0f);
  return x;
}

const size_t kDropoutSizes[] = {0, 1, 7, 15, 16, 63, 64, 65, 200, 1000, 3 * 16384 + 77};

TEST(Dropout, FollowsTheDefinitionOnEveryTarget) {
  for_each_target([] {
    for (const size_t size : kDropoutSizes) {
      const auto x = numbers(size + 1, 0);
      std::vector<float> y(size + 2, -1.0f);
      dropout(x.data() + 1, y.data() + 1, size, kOptions);
      for (size_t i = 0; i < size; ++i) {
        ASSERT_EQ(y[i + 1], kept(i, kOptions) ? x[i + 1] * kOptions.scale() : 0.0f)
            << i << " of " << size;
      }
      EXPECT_EQ(y[0], -1.0f);
      EXPECT_EQ(y[size + 1], -1.0f);
    }
  });
}

TEST(Dropout, BackwardOverwritesOrAdds) {
  for_each_target([] {
    for (const size_t size : kDropoutSizes) {
      const auto dy = numbers(size + 1, 1), before = numbers(size + 1, 2);
      for (const bool add : {false, true}) {
        auto dx = before;
        dropout_backward(dy.data() + 1, dx.data() + 1, size, kOptions, add);
        for (size_t i = 0; i < size; ++i) {
          const float grad = kept(i, kOptions) ? dy[i + 1] * kOptions.scale() : 0.0f;
          ASSERT_FLOAT_EQ(dx[i + 1], add ? before[i + 1] + grad : grad) << i << " of " << size;
        }
      }
    }
  });
}

TEST(Dropout, AddsTheResidual) {
  for_each_target([] {
    for (const size_t size : kDropoutSizes) {
      const auto x = numbers(size + 1, 3), residual = numbers(size + 1, 4);
      std::vector<float> y(size + 1);
      dropout_add(x.data() + 1, residual.data() + 1, y.data() + 1, size, kOptions);
      for (size_t i = 0; i < size; ++i) {
        const float part = kept(i, kOptions) ? x[i + 1] * kOptions.scale() : 0.0f;
        ASSERT_FLOAT_EQ(y[i + 1], residual[i + 1] + part) << i << " of " << size;
      }
    }
  });
}

TEST(Dropout, FactorsAreTheMaskAtAnyPlace) {
  for_each_target([] {
    for (const size_t first : {size_t{0}, size_t{5}, size_t{64}, size_t{1000003}}) {
      for (const size_t size : {size_t{0}, size_t{1}, size_t{59}, size_t{300}}) {
        std::vector<float> factors(size);
        dropout_factors(first, factors.data(), size, kOptions);
        for (size_t i = 0; i < size; ++i) {
          ASSERT_EQ(factors[i], kept(first + i, kOptions) ? kOptions.scale() : 0.0f) << first + i;
        }
      }
    }
  });
}

TEST(Dropout, WorksInPlace) {
  auto x = numbers(1000, 5);
  std::vector<float> y(x.size());
  dropout(x.data(), y.data(), x.size(), kOptions);
  dropout(x.data(), x.data(), x.size(), kOptions);
  EXPECT_EQ(x, y);
}

TEST(Dropout, SameBitsForAnyNumberOfThreads) {
  const auto x = numbers(100000, 6);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 4}) {
    const ThreadCountScope scope(threads);
    auto& y = results.emplace_back(x.size());
    dropout(x.data(), y.data(), x.size(), kOptions);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Dropout, KeepsTheExpectation) {
  const std::vector<float> ones(1 << 20, 1.0f);
  std::vector<float> y(ones.size());
  for (const float chance : {0.001f, 0.1f, 0.3f, 0.5f, 0.9f}) {
    const Dropout options{chance, RandomStream(11, 3)};
    dropout(ones.data(), y.data(), ones.size(), options);
    double sum = 0;
    for (const float value : y) sum += value;
    const double deviation = std::sqrt(chance / (1 - chance) / static_cast<double>(ones.size()));
    EXPECT_NEAR(sum / static_cast<double>(ones.size()), 1.0, 5 * deviation) << chance;
    EXPECT_NEAR(1 / options.scale(), 1 - chance, 1.0 / 131072) << chance;
  }
}

TEST(Dropout, ZeroChanceCopies) {
  const auto x = numbers(70000, 7), residual = numbers(70000, 8);
  const Dropout none{0.0f, RandomStream(1, 1)};
  std::vector<float> y(x.size());
  dropout(x.data(), y.data(), x.size(), none);
  EXPECT_EQ(y, x);
  dropout_add(x.data(), residual.data(), y.data(), x.size(), none);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], residual[i] + x[i]);
}

TEST(Dropout, DroppedNanIsZero) {
  const std::vector<float> x(640, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> y(x.size());
  const Dropout options{0.5f, RandomStream(3, 3)};
  dropout(x.data(), y.data(), x.size(), options);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(kept(i, options) ? std::isnan(y[i]) : y[i] == 0.0f) << i;
  }
}

TEST(Dropout, StreamsAndSeedsDiffer) {
  const std::vector<float> ones(1024, 1.0f);
  const auto mask = [&](uint64_t seed, uint64_t stream) {
    std::vector<float> y(ones.size());
    dropout(ones.data(), y.data(), ones.size(), {0.5f, RandomStream(seed, stream)});
    return y;
  };
  EXPECT_NE(mask(1, 1), mask(1, 2));
  EXPECT_NE(mask(1, 1), mask(2, 1));
  EXPECT_NE(mask(1, 1), mask(uint64_t{1} << 32, 1));
  EXPECT_NE(mask(1, 1), mask(1, uint64_t{1} << 32));
}

}  // namespace
}  // namespace attend::kernels
