// t-SNE: groups stay apart, the divergence falls, the same bits for a seed.
#include "attend/inspect/tsne.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "tests/errors.h"

namespace attend {
namespace {

constexpr size_t kGroups = 4, kOfGroup = 15;

// Groups around corners far from each other.
Tensor grouped_rows(size_t width = 12, float deviation = 0.3f) {
  std::vector<float> values(kGroups * kOfGroup * width);
  fill_normal(values, Rng(7).stream(), 0.0f, deviation);
  for (size_t i = 0; i < kGroups * kOfGroup; ++i) values[i * width + i / kOfGroup] += 10;
  return Tensor::of(values, {kGroups * kOfGroup, width});
}

TsneConfig short_config() { return {.perplexity = 8, .iterations = 400}; }

double distance(const Tensor& points, size_t i, size_t j) {
  const float* const p = points.data();
  return std::hypot(double{p[2 * i]} - double{p[2 * j]},
                    double{p[2 * i + 1]} - double{p[2 * j + 1]});
}

// Every point is nearer to all of its own group than to any other.
TEST(Tsne, KeepsGroupsApart) {
  const Tensor points = tsne(grouped_rows(), short_config()).points;
  double widest = 0, nearest = 1e30;
  for (size_t i = 0; i < points.rows(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double apart = distance(points, i, j);
      if (i / kOfGroup == j / kOfGroup) {
        widest = std::max(widest, apart);
      } else {
        nearest = std::min(nearest, apart);
      }
    }
  }
  EXPECT_GT(nearest, widest);
}

// Without groups, nearest neighbours in the plane are near in the space.
TEST(Tsne, KeepsNeighboursOfALine) {
  const size_t count = 60;
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    const float angle = static_cast<float>(i) * 0.1f;
    values.insert(values.end(), {std::cos(angle), std::sin(angle), angle});
  }
  const Tensor points = tsne(Tensor::of(values, {count, 3}), short_config()).points;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    size_t best = i == 0 ? 1 : 0;
    for (size_t j = 0; j < count; ++j) {
      if (j != i && distance(points, i, j) < distance(points, i, best)) best = j;
    }
    kept += best + 2 >= i && best <= i + 2 ? 1 : 0;
  }
  EXPECT_GE(kept, count - 4);
}

TEST(Tsne, TheDivergenceFalls) {
  const TsnePoints found = tsne(grouped_rows(), short_config());
  ASSERT_GE(found.divergences.size(), 5u);
  EXPECT_LT(found.divergences.back(), found.divergences.front());
  for (size_t i = 1; i < found.divergences.size(); ++i) {
    EXPECT_LE(found.divergences[i], found.divergences[i - 1] + 0.02);
  }
  EXPECT_GT(found.divergences.back(), 0.0);
}

TEST(Tsne, HasTheSameBitsForASeedOnAnyNumberOfThreads) {
  const auto by = [&](int threads, uint64_t seed) {
    const ThreadCountScope scope(threads);
    TsneConfig config = short_config();
    config.iterations = 100;
    config.seed = seed;
    return tsne(grouped_rows(), config).points.to_vector();
  };
  EXPECT_EQ(by(1, 1), by(3, 1));
  EXPECT_NE(by(1, 1), by(1, 2));
}

TEST(Tsne, WideVectorsAreReducedFirst) {
  const Tensor points = tsne(grouped_rows(80), short_config()).points;
  EXPECT_GT(distance(points, 0, kOfGroup), distance(points, 0, 1));
}

TEST(Tsne, EqualVectorsAreNoTrouble) {
  const Tensor points = tsne(Tensor::full({10, 4}, 1.0f), short_config()).points;
  for (const float value : points.to_vector()) EXPECT_TRUE(std::isfinite(value));
}

TEST(Tsne, StopsWhenItIsTold) {
  size_t last = 0;
  tsne(grouped_rows(), short_config(), [&](size_t iteration) {
    last = iteration;
    return iteration < 5;
  });
  EXPECT_EQ(last, 5u);
}

TEST(Tsne, SaysWhatIsWrong) {
  expect_error<DataError>([] { tsne(Tensor::zeros({4, 3})); }, "at least 5, or use PCA");
  expect_error<DataError>([] { tsne(Tensor::zeros({kMostTsnePoints + 1, 1})); }, "at most 5000");
  expect_error<ConfigError>([] { tsne(grouped_rows(), {.perplexity = 0}); }, "perplexity of 0");
  expect_error<DataError>([] { tsne(Tensor::full({6, 2}, INFINITY)); }, "not finite");
  EXPECT_NEAR(tsne(grouped_rows(), {.perplexity = 1000, .iterations = 1}).perplexity, 59.0 / 3,
              1e-9);
}

}  // namespace
}  // namespace attend
