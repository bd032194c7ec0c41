// The attention op: its fused path against its plain one, and the conventions one by one.
#include "attend/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/attention/bias.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/attention/points.h"
#include "tests/errors.h"
#include "tests/names.h"
#include "tests/special_values.h"

namespace attend {
namespace {

const std::vector<Sizes>& all_sizes() {
  static const std::vector<Sizes> sizes{
      {{5, 9}, {5, 9}, 2, 2, 4, 4},       {{1}, {1}, 1, 1, 1, 1},
      {{0, 3, 2}, {4, 0, 7}, 2, 1, 3, 5}, {{7, 2}, {3, 2}, 4, 2, 6, 3},
      {{1, 1}, {33, 17}, 6, 3, 8, 20},
  };
  return sizes;
}

void expect_near(const Outcome& a, const Outcome& b, float tolerance) {
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    ASSERT_EQ(a.values[i].size(), b.values[i].size());
    for (size_t j = 0; j < a.values[i].size(); ++j) {
      ASSERT_NEAR(a.values[i][j], b.values[i][j],
                  tolerance * std::max(1.0f, std::abs(b.values[i][j])))
          << (i == 0 ? "output" : "gradient of leaf ") << i << " at " << j;
    }
  }
}

TEST(Attention, FusedEqualsPlainWhereverItIsOpen) {
  size_t fused = 0, points = 0;
  for (const Sizes& sizes : all_sizes()) {
    for (const Score score : all_scores()) {
      if (!possible(sizes, score)) continue;
      for (const Weighting weighting :
           {Weighting::kSoftmax, Weighting::kSigmoid, Weighting::kRelu}) {
        for (const Feature& mask : masks()) {
          for (const Feature& term : terms()) {
            Point point = make_point(sizes, score, weighting);
            if (!term.fits(point.call.options)) continue;
            mask.apply(point, sizes);
            term.apply(point, sizes);
            SCOPED_TRACE(fmt::format("{} {} mask {} term {}", name_of(score), name_of(weighting),
                                     mask.name, term.name));
            const Outcome outcome = run(point, false);
            ++points;
            if (outcome.attended.path == AttentionPath::kPlain) {
              EXPECT_FALSE(outcome.attended.reason.empty());
              continue;
            }
            ++fused;
            expect_near(outcome, run(point, true), 3e-5f);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(fused, points / 3);
}

TEST(Attention, FusedEqualsPlainWithDropoutAndSinks) {
  for (const Sizes& sizes : all_sizes()) {
    Point point = make_point(sizes, Score::kScaledDot, Weighting::kSoftmax);
    point.call.options.dropout = 0.4f;
    point.call.options.sinks = learn(point, {sizes.heads});
    point.call.options.mask.causal = true;
    const Outcome fused = run(point, false);
    EXPECT_EQ(fused.attended.path, AttentionPath::kFused);
    expect_near(fused, run(point, true), 3e-5f);
  }
}

// Which weights are dropped depends on the keys in use, not on the rows that a cache reserves.
TEST(Attention, DropoutDoesNotDependOnReservedKeys) {
  const Tensor q = random_tensor({3, 4}, 1), k = random_tensor({300, 4}, 2),
               v = random_tensor({300, 4}, 3);
  const auto output = [&](size_t rows, bool plain) {
    const TrainingScope training(Rng(5));
    return attention(q, k.slice_rows(0, rows), v.slice_rows(0, rows),
                     {.key_lengths = {100}, .dropout = 0.5f, .plain = plain})
        .output.to_vector();
  };
  const Shape shape{3, 4};
  const Tensor expected = Tensor::of(output(100, false), shape);
  for (const bool plain : {false, true}) {
    expect_values(expected, output(100, plain), 1e-6f);
    expect_values(expected, output(300, plain), 1e-6f);
  }
}

TEST(Attention, KnownValues) {
  const Tensor q = Tensor::of({1, 0, 0, 1}, {2, 2}), k = Tensor::of({0, 1, 1, 0}, {2, 2});
  const Tensor v = Tensor::of({1, 2, 3, 4}, {2, 2});
  // From the tests of Keras' Attention and AdditiveAttention layers.
  expect_values(attention(q, k, v, {.score = Score::kDot}).output, {2.462f, 3.462f, 1.538f, 2.538f},
                1e-3f);
  const Tensor one = Tensor::of({1, 0, 0, 1}, {2, 2});
  const ScoreWeights weights{.query = one, .key = one, .vector = Tensor::full({2}, 1.0f)};
  expect_values(attention(q, k, v, {.score = Score::kAdditive, .score_weights = weights}).output,
                {1.727f, 2.727f, 2.272f, 3.272f}, 1e-3f);
  // Keys that say nothing give the mean of the values.
  expect_values(attention(q, Tensor::zeros({2, 2}), v).output, {2, 3, 2, 3}, 1e-6f);
}

TEST(Attention, CausalIsAlignedAtTheLastKey) {
  const Tensor q = Tensor::zeros({1, 1}), k = Tensor::zeros({3, 1});
  const Tensor v = Tensor::of({1, 2, 3}, {3, 1});
  EXPECT_FLOAT_EQ(attention(q, k, v, {.mask = {.causal = true}}).output.item(), 2.0f);
  const Mask first{.causal = true, .q_offset = {0}};
  EXPECT_FLOAT_EQ(attention(q, k, v, {.mask = first}).output.item(), 1.0f);
}

TEST(Attention, WindowsAreInclusive) {
  const Tensor q = Tensor::zeros({5, 1}), v = Tensor::of({1, 2, 4, 8, 16}, {5, 1});
  const Tensor y = attention(q, q, v, {.mask = {.left = 1, .right = 0}}).output;
  expect_values(y, {1, 1.5f, 3, 6, 12}, 1e-6f);
}

TEST(Attention, HeadReadsKeyHeadOfItsGroup) {
  // Six heads on two key heads: heads 0, 1, 2 read the first.
  const Tensor q = Tensor::zeros({1, 6}), k = Tensor::zeros({1, 2}), v = Tensor::of({1, 2}, {1, 2});
  const Tensor y = attention(q, k, v, {.heads = 6, .kv_heads = 2}).output;
  expect_values(y, {1, 1, 1, 2, 2, 2}, 0.0f);
}

TEST(Attention, GroupedEqualsRepeatedHeads) {
  const Tensor q = random_tensor({6, 6 * 4}, 1), k = random_tensor({6, 2 * 4}, 2),
               v = random_tensor({6, 2 * 4}, 3);
  const auto repeated = [](const Tensor& x) {
    std::vector<float> rows;
    for (size_t r = 0; r < x.rows(); ++r) {
      for (size_t h = 0; h < 6; ++h) {
        const float* from = x.data() + r * x.stride() + h / 3 * 4;
        rows.insert(rows.end(), from, from + 4);
      }
    }
    return Tensor::of(rows, {x.rows(), 24});
  };
  const Tensor grouped = attention(q, k, v, {.heads = 6, .kv_heads = 2}).output;
  expect_values(attention(q, repeated(k), repeated(v), {.heads = 6}).output, grouped.to_vector(),
                1e-6f);
}

TEST(Attention, PackedEqualsOneAtATime) {
  const std::vector<int32_t> lengths{3, 0, 8, 1};
  const Packing packing(lengths);
  const Tensor x = random_tensor({packing.rows(), 8}, 5);
  const AttentionOptions one{.heads = 2, .mask = {.causal = true}};
  AttentionOptions all = one;
  all.queries = all.keys = packing;
  const Tensor y = attention(x, x, x, all).output;
  for (size_t s = 0; s < packing.count(); ++s) {
    const Tensor rows = x.slice_rows(packing.begin(s), packing.length(s));
    EXPECT_EQ(attention(rows, rows, rows, one).output.to_vector(),
              y.slice_rows(packing.begin(s), packing.length(s)).to_vector());
  }
}

// The order of keys does not matter to a row, and that of all rows of a sequence only permutes the
// output; positions break both.
TEST(Attention, SelfAttentionIsPermutationEquivariant) {
  const size_t rows = 7;
  const std::vector<int32_t> order{3, 0, 6, 2, 5, 1, 4};
  const Tensor x = random_tensor({rows, 8}, 5);
  const auto permuted = [&](const Tensor& t) {
    std::vector<float> values;
    for (const int32_t r : order) {
      const float* from = t.data() + static_cast<size_t>(r) * t.stride();
      values.insert(values.end(), from, from + t.width());
    }
    return Tensor::of(values, t.shape());
  };
  const Tensor px = permuted(x);
  for (const Weighting weighting : {Weighting::kSoftmax, Weighting::kSparsemax}) {
    const AttentionOptions options{.heads = 2, .weighting = weighting};
    const Tensor y = attention(x, x, x, options).output;
    expect_values(attention(px, px, px, options).output, permuted(y).to_vector(), 1e-5f);
    expect_values(attention(x, px, px, options).output, y.to_vector(), 1e-5f);
  }
  AttentionOptions placed{.heads = 2};
  placed.relative = alibi(2, rows);
  const Tensor y = attention(x, x, x, placed).output;
  const std::vector<float> moved = attention(px, px, px, placed).output.to_vector();
  const std::vector<float> expected = permuted(y).to_vector();
  float apart = 0.0f;
  for (size_t i = 0; i < moved.size(); ++i) {
    apart = std::max(apart, std::abs(moved[i] - expected[i]));
  }
  EXPECT_GT(apart, 1e-2f);
}

TEST(Attention, LogSumExpMergesTwoHalvesToTheWhole) {
  const Tensor q = random_tensor({4, 6}, 1), k = random_tensor({10, 6}, 2),
               v = random_tensor({10, 6}, 3);
  const Attended whole = attention(q, k, v, {.heads = 2});
  const Attended left = attention(q, k.slice_rows(0, 3), v.slice_rows(0, 3), {.heads = 2});
  const Attended right = attention(q, k.slice_rows(3, 7), v.slice_rows(3, 7), {.heads = 2});
  for (size_t i = 0; i < 4; ++i) {
    for (size_t h = 0; h < 2; ++h) {
      const double a = left.lse.data()[i * 2 + h], b = right.lse.data()[i * 2 + h];
      const double sum = std::log(std::exp(a) + std::exp(b));
      EXPECT_NEAR(whole.lse.data()[i * 2 + h], sum, 1e-5);
      for (size_t c = 0; c < 3; ++c) {
        const size_t at = i * 6 + h * 3 + c;
        const double merged = std::exp(a - sum) * left.output.data()[at] +
                              std::exp(b - sum) * right.output.data()[at];
        EXPECT_NEAR(whole.output.data()[at], merged, 1e-5);
      }
    }
  }
}

// Both paths: rows that may attend to nothing, and bad values where nobody looks.
TEST(Attention, MaskedPlacesDoNotLeakOnEitherPath) {
  for (const bool plain : {false, true}) {
    for (const float bad : {kNaN, kInf}) {
      Tensor q = random_tensor({4, 2}, 1), k = random_tensor({3, 2}, 2),
             v = random_tensor({3, 2}, 3);
      const AttentionOptions options{.mask = {.causal = true}, .plain = plain};
      const std::vector<float> clean = attention(q, k, v, options).output.to_vector();
      for (size_t c = 0; c < 2; ++c) k.data()[4 + c] = v.data()[4 + c] = bad;  // the last key
      q.require_grad();
      const Tensor y = attention(q, k, v, options).output;
      const std::vector<float> spoiled = y.to_vector();
      for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(spoiled[i], clean[i], plain ? 1e-6f : 0.0f);
      for (size_t c = 0; c < 2; ++c) EXPECT_EQ(spoiled[c], 0.0f);  // before the first key
      const Tensor seed = Tensor::of({1, 1, 1, 1, 1, 1, 0, 0}, {4, 2});
      for (size_t c = 0; c < 2; ++c) y.data()[6 + c] = 0.0f;  // the last row is beyond help
      backward(y, seed);
      for (size_t i = 0; i < 6; ++i) EXPECT_FALSE(std::isnan(q.grad().data()[i])) << plain << i;
    }
  }
}

TEST(Attention, DropoutKeepsTheExpectation) {
  const Tensor q = random_tensor({8, 4}, 1), k = random_tensor({8, 4}, 2),
               v = Tensor::full({8, 4}, 1.0f);
  double sum = 0.0;
  const size_t runs = 400;
  for (size_t i = 0; i < runs; ++i) {
    TrainingScope training{Rng(i)};
    for (const float y : attention(q, k, v, {.dropout = 0.3f}).output.to_vector()) sum += y;
  }
  EXPECT_NEAR(sum / (runs * 32), 1.0, 0.02);
  expect_values(attention(q, k, v, {.dropout = 0.3f}).output, std::vector<float>(32, 1.0f), 1e-6f);
}

TEST(Attention, NoSequencesHaveGradientsOfZero) {
  const Sizes sizes{{}, {}, 2, 2, 3, 2};
  for (const Score score : all_scores()) {
    for (const Weighting weighting : all_weightings()) {
      for (const bool plain : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(score), name_of(weighting), plain));
        Point point = make_point(sizes, score, weighting);
        point.call.options.bias = learn(point, {1, 1});
        const Outcome outcome = run(point, plain);
        EXPECT_EQ(outcome.attended.output.shape(), (Shape{0, 4}));
        if (weighting == Weighting::kHardSample) {
          EXPECT_EQ(outcome.attended.log_probability.shape(), (Shape{0, 2}));
        }
        for (const std::vector<float>& gradient : outcome.values) {
          for (const float value : gradient) EXPECT_EQ(value, 0.0f);
        }
      }
    }
  }
}

// Positions too far for any table are said to be, on both paths.
TEST(Attention, FarOffsetsAreNotCut) {
  const Tensor x = random_tensor({3, 2}, 1);
  const auto output = [&](int64_t offset, bool plain) {
    return attention(x, x, x, {.mask = {.causal = true, .q_offset = {offset}}, .plain = plain})
        .output.to_vector();
  };
  for (const bool plain : {false, true}) {
    EXPECT_EQ(output(int64_t{1} << 31, plain), output(100, plain));
    EXPECT_EQ(output(int64_t{1} << 32, plain), output(100, plain));
    EXPECT_EQ(output(-(int64_t{1} << 32), plain), std::vector<float>(6, 0.0f));
    AttentionOptions options{.relative = alibi(1, 9), .plain = plain};
    options.mask.q_offset = {int64_t{1} << 32};
    expect_error<ShapeError>([&] { attention(x, x, x, options); },
                             "covers distances -9 to 9, but -4294967298 to -4294967294 occur");
    options.mask.q_offset = {std::numeric_limits<int64_t>::min()};
    expect_error<ShapeError>([&] { attention(x, x, x, options); }, "covers distances -9 to 9");
    options.relative = {};
    options.shaw = {random_tensor({3, 2}, 4), random_tensor({3, 2}, 5)};
    const std::vector<float> far = attention(x, x, x, options).output.to_vector();
    options.mask.q_offset = {-100};
    EXPECT_EQ(attention(x, x, x, options).output.to_vector(), far);
  }
}

TEST(Attention, RefusesWhatWouldBeNaN) {
  const Tensor x = random_tensor({2, 2}, 1);
  for (const float cap : {kNaN, kInf, -kInf, -1.0f, 1e-40f}) {
    expect_error<ConfigError>([&] { attention(x, x, x, {.softcap = cap}); },
                              fmt::format("attention: softcap is {}", cap));
  }
  for (const float temperature : {kNaN, kInf, 0.0f, -1.0f, 1e-40f}) {
    expect_error<ConfigError>([&] { attention(x, x, x, {.temperature = temperature}); },
                              fmt::format("attention: temperature is {}", temperature));
  }
  for (const float scale : {kNaN, kInf, -kInf}) {
    expect_error<ConfigError>([&] { attention(x, x, x, {.scale = scale}); },
                              fmt::format("attention: scale is {}", scale));
  }
  const Tensor empty = Tensor::zeros({2, 0});
  for (const Score score : {Score::kDot, Score::kScaledDot, Score::kCosine, Score::kDistance}) {
    expect_error<ShapeError>([&] { attention(empty, empty, x, {.score = score}); },
                             "attention: queries and keys are 0 wide");
  }
}

TEST(Attention, RefusesWeightingsThatDoNotExist) {
  const Tensor x = random_tensor({2, 2}, 1);
  const auto none = static_cast<Weighting>(99);
  for (const bool plain : {false, true}) {
    expect_error<ConfigError>([&] { attention(x, x, x, {.weighting = none, .plain = plain}); },
                              "there is no weighting 99");
  }
  expect_error<ConfigError>([&] { weigh(x, {.weighting = none}); }, "there is no weighting 99");
  const auto no_score = static_cast<Score>(-1);
  expect_error<ConfigError>([&] { attention(x, x, x, {.score = no_score}); },
                            "there is no score -1");
}

TEST(Attention, RefusesIds) {
  const Tensor x = random_tensor({2, 2}, 1), ids = Tensor::ids({1, 2, 3, 4}).reshape({2, 2});
  expect_error<ShapeError>([&] { attention(ids, x, x); }, "attention: queries are int32 [2, 2]");
  expect_error<ShapeError>([&] { attention(x, ids, x); }, "attention: keys are int32 [2, 2]");
  expect_error<ShapeError>([&] { attention(x, x, ids); }, "attention: values are int32 [2, 2]");
  expect_error<ShapeError>([&] { attention(x, x, x, {.bias = ids}); }, "int32");
  expect_error<ShapeError>([&] { attention(x, x, x, {.sinks = Tensor::ids({1})}); }, "int32");
}

TEST(Attention, ErrorsNameTheValues) {
  const Tensor q = Tensor::zeros({4, 6}), k = Tensor::zeros({6, 6}), v = Tensor::zeros({5, 6});
  expect_error<ShapeError>([&] { attention(q, k, v); },
                           "attention: keys have 6 rows but values have 5");
  expect_error<ShapeError>([&] { attention(q, k, k, {.heads = 4}); },
                           "attention: queries are 6 wide, which 4 heads do not divide");
  expect_error<ConfigError>([&] { attention(q, k, k, {.heads = 3, .kv_heads = 2}); },
                            "attention: 3 heads cannot share 2 key heads evenly");
  expect_error<ConfigError>([&] { attention(q, k, k, {.mask = {.left = -1}}); }, "left side is -1");
  expect_error<ShapeError>(
      [&] {
        attention(q, k, k, {.bias = Tensor::zeros({4, 5})});
      },
      "a bias of shape [4, 5] does not fit");
  expect_error<ConfigError>(
      [&] { attention(q, k, k, {.weighting = Weighting::kSigmoid, .sinks = Tensor::zeros({1})}); },
      "sinks are part of a softmax, but the weighting is sigmoid");
  expect_error<ConfigError>(
      [&] {
        attention(q, k, k, {.score = Score::kDistance, .shaw = {.keys = Tensor::zeros({3, 6})}});
      },
      "Shaw's vectors for keys are part of a product, but the score is distance");
  expect_error<ShapeError>([&] { attention(q, k, k, {.score = Score::kGeneral}); },
                           "score general needs a query weight");
}

TEST(Scores, HaveNames) {
  expect_names<Score>(
      {"dot", "scaled_dot", "general", "additive", "concat", "cosine", "distance", "location"});
}

}  // namespace
}  // namespace attend
