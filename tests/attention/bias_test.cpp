// Biases of distance: the values of the papers, and where gradients go.
#include "attend/attention/bias.h"

#include <gtest/gtest.h>

#include "attend/attention/cache.h"
#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"
#include "tests/attention/values.h"

namespace attend {
namespace {

TEST(Alibi, SlopesAreThoseOfThePaper) {
  EXPECT_EQ(alibi_slopes(8), (std::vector<float>{0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f, 0.015625f,
                                                 0.0078125f, 0.00390625f}));
  EXPECT_EQ(alibi_slopes(6),
            (std::vector<float>{0.25f, 0.0625f, 0.015625f, 0.00390625f, 0.5f, 0.125f}));
  EXPECT_EQ(alibi_slopes(1), (std::vector<float>{0.00390625f}));
  EXPECT_TRUE(alibi_slopes(0).empty());
}

TEST(Alibi, FallsWithTheDistanceEitherWay) {
  const RelativeBias bias = alibi(2, 2);
  EXPECT_EQ(bias.zero, 2u);
  expect_values(bias.values,
                {-0.125f, -0.0625f, 0, -0.0625f, -0.125f,  //
                 -2 / 256.0f, -1 / 256.0f, 0, -1 / 256.0f, -2 / 256.0f},
                0.0f);
}

// With equal scores the weights are softmax(-slope distance).
TEST(Alibi, PrefersNearKeys) {
  const Tensor q = Tensor::zeros({1, 1}), v = Tensor::of({1, 0, 0}, {3, 1});
  AttentionOptions options;
  options.relative = alibi(1, 3);
  const double slope = 1.0 / 256, a = std::exp(-2 * slope), b = std::exp(-slope);
  EXPECT_NEAR(attention(q, Tensor::zeros({3, 1}), v, options).output.item(), a / (a + b + 1), 1e-6);
}

TEST(T5, BucketsAreThoseOfThePaper) {
  const T5Buckets both;  // 32 up to 128
  const std::vector<std::pair<int64_t, size_t>> known{
      {0, 0},  {7, 23}, {8, 24},   {20, 26},   {50, 29},  {100, 31}, {128, 31},  {9999, 31},
      {-1, 1}, {-8, 8}, {-50, 13}, {-128, 15}, {-16, 10}, {16, 26},  {-9999, 15}};
  for (const auto& [distance, bucket] : known) EXPECT_EQ(both.of(distance), bucket) << distance;
}

TEST(T5, OneWayBucketsLookBackOnly) {
  const T5Buckets back{.bidirectional = false};
  EXPECT_EQ(back.of(0), 0u);
  EXPECT_EQ(back.of(5), 0u);
  EXPECT_EQ(back.of(-15), 15u);
  EXPECT_EQ(back.of(-16), 16u);
  EXPECT_EQ(back.of(-128), 31u);
  for (int64_t d = 0; d < 300; ++d) EXPECT_LE(back.of(-d), back.of(-d - 1)) << d;
}

// A bucket's value is used by all of its distances, and gathers their gradients.
TEST(T5, TableIsReadAndLearnsByBucket) {
  const T5Buckets buckets{.count = 8, .farthest = 10};
  Tensor table = random_tensor({8, 3}, 1);
  table.require_grad();
  const size_t reach = 12;
  const RelativeBias bias = t5_bias(table, buckets, reach);
  ASSERT_EQ(bias.values.shape(), (Shape{3, 2 * reach + 1}));
  const Tensor seed = random_tensor(bias.values.shape(), 2);
  std::vector<float> gradient(24, 0.0f);
  for (size_t h = 0; h < 3; ++h) {
    for (size_t i = 0; i <= 2 * reach; ++i) {
      const int64_t distance = static_cast<int64_t>(i) - static_cast<int64_t>(bias.zero);
      const size_t place = buckets.of(distance) * 3 + h, at = h * (2 * reach + 1) + i;
      EXPECT_EQ(bias.values.data()[at], table.data()[place]);
      gradient[place] += seed.data()[at];
    }
  }
  backward(bias.values, seed);
  expect_values(table.grad(), gradient, 1e-5f);
}

// A bias of keys for all queries is that of each query, and learns from all of them.
TEST(Bias, BroadcastsOverQueriesAndKeys) {
  const Tensor x = random_tensor({6, 4}, 1), seed = random_tensor({6, 4}, 2);
  AttentionOptions options{.heads = 2};
  options.queries = options.keys = Packing::of({4, 2});
  const auto run = [&](Tensor bias, bool plain) {
    bias.require_grad();
    options.bias = bias;
    options.plain = plain;
    options.weighting = Weighting::kSigmoid;  // a softmax does not feel a bias of queries
    const Tensor y = attention(x, x, x, options).output;
    backward(y, seed);
    return std::pair(y.to_vector(), bias.grad());
  };
  const Tensor row = random_tensor({2, 1, 4}, 3), column = random_tensor({2, 4, 1}, 4);
  for (const Tensor& narrow : {row, column}) {
    Tensor whole = Tensor::empty({2, 4, 4});
    for (size_t i = 0; i < 32; ++i) {
      const size_t head = i / 16, query = i / 4 % 4, key = i % 4;
      whole.data()[i] = narrow.data()[head * 4 + (narrow.extent(1) == 1 ? key : query)];
    }
    for (const bool plain : {false, true}) {
      const auto [y, gradient] = run(narrow, plain);
      const auto [expected, all] = run(whole, plain);
      expect_values(Tensor::of(y, {6, 4}), expected, 1e-6f);
      std::vector<float> sums(8, 0.0f);
      for (size_t i = 0; i < 32; ++i) {
        const size_t query = i / 4 % 4, key = i % 4;
        sums[i / 16 * 4 + (narrow.extent(1) == 1 ? key : query)] += all.data()[i];
      }
      expect_values(gradient, sums, 1e-5f);
    }
  }
}

TEST(Bias, BroadcastOnesHaveTheSameBitsForAnyNumberOfThreads) {
  const Packing packing = Packing::of({290, 17, 130});
  const Tensor x = random_tensor({packing.rows(), 32}, 1), seed = random_tensor(x.shape(), 2);
  for (const Shape& shape : {Shape{1, 290}, Shape{290, 1}, Shape{3, 4, 1, 290}, Shape{4, 290, 1}}) {
    std::vector<float> first;
    for (const int threads : {1, 2, 4}) {
      const ThreadCountScope scope(threads);
      Tensor bias = random_tensor(shape, 3);
      AttentionOptions options{.heads = 4, .bias = bias.require_grad()};
      options.queries = options.keys = packing;
      options.mask.strictly_causal = true;
      const Tensor y = attention(x, x, x, options).output;
      backward(y, seed);
      std::vector<float> values = y.to_vector();
      for (const float value : bias.grad().to_vector()) values.push_back(value);
      if (threads == 1) first = values;
      EXPECT_EQ(values, first) << shape.text() << " on " << threads << " threads";
    }
  }
}

// The tables of a cache have more rows than are in use; a bias or a mask need not know.
TEST(Bias, IsAsWideAsTheLongestKeysInUse) {
  KeyValueCache cache(2);
  cache.append(Packing::of({5, 3}), random_tensor({8, 4}, 1), random_tensor({8, 4}, 2));
  ASSERT_GT(cache.capacity(), 5u);
  const Tensor q = random_tensor({2, 4}, 3), wide = random_tensor({1, cache.capacity()}, 4);
  std::vector<uint8_t> allowed(cache.capacity(), 1);
  allowed[1] = 0;
  const auto run = [&](size_t keys, bool plain) {
    AttentionOptions options{.plain = plain};
    options.queries = Packing::even(2, 1);
    options.keys = cache.packing();
    options.key_lengths.assign(cache.lengths().begin(), cache.lengths().end());
    Tensor bias = Tensor::of(wide.slice_columns(0, keys).to_vector(), {1, keys});
    options.bias = bias.require_grad();
    options.mask.pairs = PairMask({1, keys}, {allowed.begin(), allowed.begin() + ptrdiff_t(keys)});
    const Tensor y = attention(q, cache.keys(), cache.values(), options).output;
    backward(y, random_tensor({2, 4}, 5));
    std::vector<float> values = y.to_vector();
    values.insert(values.end(), bias.grad().data(), bias.grad().data() + 5);
    return values;
  };
  for (const bool plain : {false, true}) {
    const std::vector<float> expected = run(cache.capacity(), plain);
    EXPECT_EQ(run(5, plain), expected);
    EXPECT_EQ(run(7, plain), expected);
    expect_error<ShapeError>([&] { run(4, plain); },
                             "a bias of shape [1, 4] does not fit 2 sequences of up to 1 queries "
                             "and 5 keys in 1 heads");
  }
}

TEST(RelativeBias, ErrorsNameTheValues) {
  expect_error<ShapeError>(
      [] {
        t5_bias(Tensor::zeros({16, 2}), {}, 4);
      },
      "a table of shape [16, 2] for 32 buckets");
  expect_error<ConfigError>(
      [] {
        t5_bias(Tensor::zeros({2, 2}), {.count = 2}, 4);
      },
      "2 buckets up to distance 128; have at least 4 buckets");
  expect_error<ConfigError>(
      [] {
        t5_bias(Tensor::zeros({32, 2}), {.farthest = 8}, 4);
      },
      "a distance above 8");
  const Tensor x = Tensor::zeros({5, 2});
  AttentionOptions options{.heads = 2};
  options.relative = alibi(2, 3);
  expect_error<ShapeError>([&] { attention(x, x, x, options); },
                           "covers distances -3 to 3, but -4 to 4 occur");
  options.relative = alibi(3, 9);
  expect_error<ShapeError>([&] { attention(x, x, x, options); },
                           "a relative bias of shape [3, 19] for 2 heads");
}

}  // namespace
}  // namespace attend
