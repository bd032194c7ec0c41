#include "attend/base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attend/base/parallel.h"

namespace attend {
namespace {

// The known answers that Random123 publishes for philox4x32-10 (kat_vectors).
TEST(Philox, GivesThePublishedNumbers) {
  using Block = std::array<uint32_t, 4>;
  constexpr uint64_t kOnes = ~uint64_t{0};
  EXPECT_EQ(philox(0, 0, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(kOnes, kOnes, kOnes), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

constexpr size_t kMany = 200000;

struct Moments {
  double mean, variance, third;
};
template <typename Draw>
Moments moments(const Draw& draw) {
  double mean = 0, square = 0, cube = 0;
  for (size_t i = 0; i < kMany; ++i) mean += draw(i) / kMany;
  for (size_t i = 0; i < kMany; ++i) {
    const double d = draw(i) - mean;
    square += d * d / kMany;
    cube += d * d * d / kMany;
  }
  return {mean, square, cube};
}

const RandomStream kStream(42, 7);

TEST(RandomStream, UniformMoments) {
  const auto m = moments([](size_t i) { return double{kStream.uniform(i)}; });
  EXPECT_NEAR(m.mean, 0.5, 5 * std::sqrt(1.0 / 12 / kMany));
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
  EXPECT_NEAR(m.third, 0.0, 0.001);
}

TEST(RandomStream, UniformStaysBelowOne) {
  for (size_t i = 0; i < kMany; ++i) {
    ASSERT_GE(kStream.uniform(i), 0.0f);
    ASSERT_LT(kStream.uniform(i), 1.0f);
  }
}

TEST(RandomStream, NormalMoments) {
  const auto m = moments([](size_t i) { return kStream.normal(i); });
  EXPECT_NEAR(m.mean, 0.0, 5 / std::sqrt(double{kMany}));
  EXPECT_NEAR(m.variance, 1.0, 0.02);
  EXPECT_NEAR(m.third, 0.0, 0.05);
  const auto within = [](size_t i) { return std::abs(kStream.normal(i)) < 1.0 ? 1.0 : 0.0; };
  EXPECT_NEAR(moments(within).mean, 0.682689, 0.006);
}

TEST(RandomStream, BernoulliHitsItsChance) {
  for (const double chance : {0.0, 0.001, 0.3, 0.999, 1.0}) {
    const auto m = moments([&](size_t i) { return kStream.bernoulli(i, chance) ? 1.0 : 0.0; });
    EXPECT_NEAR(m.mean, chance, 1e-9 + 5 * std::sqrt(chance * (1 - chance) / kMany)) << chance;
  }
}

TEST(RandomStream, BelowIsEvenAndBounded) {
  std::vector<size_t> counts(7);
  for (size_t i = 0; i < 70000; ++i) {
    const uint64_t value = kStream.below(i, 7);
    ASSERT_LT(value, 7u);
    ++counts[value];
  }
  for (const size_t count : counts) EXPECT_NEAR(static_cast<double>(count), 10000.0, 500.0);
  EXPECT_EQ(kStream.below(3, 1), 0u);
}

TEST(RandomStream, NeighboursAreIndependent) {
  // Correlation with the next place, the next stream and the next seed.
  const auto correlation = [](RandomStream other, size_t shift) {
    double sum = 0;
    for (size_t i = 0; i < kMany; ++i) sum += kStream.normal(i) * other.normal(i + shift) / kMany;
    return sum;
  };
  const double bound = 5 / std::sqrt(double{kMany});
  EXPECT_NEAR(correlation(kStream, 1), 0.0, bound);
  EXPECT_NEAR(correlation(RandomStream(42, 8), 0), 0.0, bound);
  EXPECT_NEAR(correlation(RandomStream(43, 7), 0), 0.0, bound);
}

TEST(Rng, ResumesFromTwoNumbers) {
  Rng rng(99);
  rng.stream();
  Rng resumed(rng.seed(), rng.next());
  const RandomStream a = rng.stream(), b = resumed.stream();
  EXPECT_EQ(a.bits(5), b.bits(5));
  EXPECT_NE(a.bits(5), rng.stream().bits(5));
}

TEST(Fill, DoesNotDependOnThreads) {
  const auto fill = [](int threads) {
    const ThreadCountScope scope(threads);
    std::vector<float> x(200003);
    fill_uniform(std::span(x).first(100001), kStream, -2.0f, 3.0f);
    fill_normal(std::span(x).subspan(100001), kStream, 1.0f, 2.0f);
    return x;
  };
  EXPECT_EQ(fill(1), fill(2));
  EXPECT_EQ(fill(1), fill(4));
}

TEST(Fill, ScalesAndShifts) {
  std::vector<float> uniform(50000), normal(50000);
  fill_uniform(uniform, kStream, -2.0f, 3.0f);
  fill_normal(normal, kStream, 1.0f, 2.0f);
  const auto mean = [](const std::vector<float>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  };
  const auto [low, high] = std::minmax_element(uniform.begin(), uniform.end());
  EXPECT_GE(*low, -2.0f);
  EXPECT_LT(*low, -1.99f);
  EXPECT_LE(*high, 3.0f);
  EXPECT_GT(*high, 2.99f);
  EXPECT_NEAR(mean(uniform), 0.5, 0.04);
  EXPECT_NEAR(mean(normal), 1.0, 0.05);
}

TEST(Permutation, IsOneAndDependsOnTheSeed) {
  const auto order = [](uint64_t seed, size_t size) {
    std::vector<uint32_t> values(size);
    fill_permutation(values, RandomStream(seed, 0));
    return values;
  };
  for (const size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{1000}}) {
    auto sorted = order(1, size);
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < size; ++i) ASSERT_EQ(sorted[i], i);
  }
  EXPECT_EQ(order(1, 1000), order(1, 1000));
  EXPECT_NE(order(1, 1000), order(2, 1000));
}

TEST(Permutation, EachOrderIsEquallyLikely) {
  std::vector<size_t> counts(6);
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    std::vector<uint32_t> order(3);
    fill_permutation(order, RandomStream(seed, 3));
    ++counts[order[0] * 2 + (order[1] > order[2] ? 1 : 0)];
  }
  for (const size_t count : counts) EXPECT_NEAR(static_cast<double>(count), 1000.0, 150.0);
}

}  // namespace
}  // namespace attend
