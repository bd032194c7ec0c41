// The attention op: its fused path against its plain twin, its gradients against finite
// differences, and the conventions one by one.
#include "attend/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attend/attention/bias.h"
#include "attend/base/parallel.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/attention/values.h"
#include "tests/errors.h"

namespace attend {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Sizes {
  std::vector<int32_t> queries, keys;
  size_t heads, kv_heads, width, value_width;
};

const std::vector<Sizes>& all_sizes() {
  static const std::vector<Sizes> sizes{
      {{5, 9}, {5, 9}, 2, 2, 4, 4},       {{1}, {1}, 1, 1, 1, 1},
      {{0, 3, 2}, {4, 0, 7}, 2, 1, 3, 5}, {{7, 2}, {3, 2}, 4, 2, 6, 3},
      {{1, 1}, {33, 17}, 6, 3, 8, 20},
  };
  return sizes;
}

// A point of the space over given sizes: options, and the leaves they refer to.
struct Point {
  AttentionOptions options;
  std::vector<Tensor> leaves;                           // q, k, v, then what is learned
  std::function<void(AttentionOptions&)> prepare = {};  // what is made anew of leaves for each run
};

using Feature = std::function<void(Point&, const Sizes&)>;
struct NamedFeature {
  std::string name;
  Feature apply;
};

size_t longest(const std::vector<int32_t>& lengths) {
  return static_cast<size_t>(*std::ranges::max_element(lengths));
}

Tensor learn(Point& point, const Shape& shape) {
  Tensor leaf = random_tensor(shape, 100 + point.leaves.size());
  leaf.require_grad();
  point.leaves.push_back(leaf);
  return leaf;
}

const std::vector<NamedFeature>& masks() {
  static const std::vector<NamedFeature> all{
      {"none", [](Point&, const Sizes&) {}},
      {"causal", [](Point& p, const Sizes&) { p.options.mask.causal = true; }},
      {"causal from 1",
       [](Point& p, const Sizes&) {
         p.options.mask.causal = true;
         p.options.mask.q_offset = 1;
       }},
      {"window",
       [](Point& p, const Sizes&) {
         p.options.mask.left = 2;
         p.options.mask.right = 1;
       }},
      {"prefix",
       [](Point& p, const Sizes&) {
         p.options.mask.causal = true;
         p.options.mask.prefix = {3};
       }},
      {"documents",
       [](Point& p, const Sizes& sizes) {
         for (const int32_t n : sizes.queries) {
           for (int32_t i = 0; i < n; ++i) p.options.mask.q_documents.push_back(i / 3);
         }
         for (const int32_t n : sizes.keys) {
           for (int32_t i = 0; i < n; ++i) p.options.mask.k_documents.push_back(i / 3);
         }
       }},
      {"pairs and causal",
       [](Point& p, const Sizes& sizes) {
         const Shape shape{sizes.queries.size(), sizes.heads, longest(sizes.queries),
                           longest(sizes.keys)};
         std::vector<uint8_t> allowed(shape.size());
         for (size_t i = 0; i < allowed.size(); ++i) {
           allowed[i] = RandomStream(1, 1).uniform(i) < 0.6f;
         }
         p.options.mask.pairs = PairMask(shape, allowed);
         p.options.mask.causal = true;
       }},
  };
  return all;
}

const std::vector<NamedFeature>& terms() {
  static const std::vector<NamedFeature> all{
      {"none", [](Point&, const Sizes&) {}},
      {"bias",
       [](Point& p, const Sizes& s) {
         p.options.bias = learn(p, {longest(s.queries), longest(s.keys) + 1});
       }},
      {"bias of heads",
       [](Point& p, const Sizes& s) {
         p.options.bias = learn(p, {s.heads, longest(s.queries), longest(s.keys)});
       }},
      {"bias of sequences",
       [](Point& p, const Sizes& s) {
         p.options.bias = learn(p, {s.queries.size(), 1, longest(s.queries), longest(s.keys)});
       }},
      {"alibi", [](Point& p, const Sizes& s) { p.options.relative = alibi(s.heads, 50); }},
      {"t5",
       [](Point& p, const Sizes& s) {
         const Tensor table = learn(p, {8, s.heads});
         p.prepare = [table](AttentionOptions& options) {
           options.relative = t5_bias(table, {.count = 8, .farthest = 16}, 50);
         };
       }},
      {"softcap and temperature",
       [](Point& p, const Sizes&) {
         p.options.softcap = 0.9f;
         p.options.temperature = 1.6f;
       }},
      {"scale", [](Point& p, const Sizes&) { p.options.scale = 0.3f; }},
      {"shaw",
       [](Point& p, const Sizes& s) {
         p.options.shaw = {learn(p, {5, s.width}), learn(p, {5, s.value_width})};
       }},
  };
  return all;
}

// What the score needs to have learned. Widths of rows are those of q and k.
void add_score_weights(Point& p, const Sizes& s) {
  const size_t q_width = s.heads * s.width, k_width = s.kv_heads * s.width;
  ScoreWeights& w = p.options.score_weights;
  switch (p.options.score) {
    case Score::kGeneral:
      w.query = learn(p, {q_width, q_width});
      break;
    case Score::kAdditive:
      w.query = learn(p, {s.heads * 5, q_width});
      w.key = learn(p, {s.heads * 5, k_width});
      w.vector = learn(p, {s.heads * 5});
      break;
    case Score::kConcat:
      w.query = learn(p, {s.heads * 5, q_width + k_width});
      w.vector = learn(p, {s.heads * 5});
      break;
    case Score::kLocation:
      w.query = learn(p, {s.heads * std::max<size_t>(1, longest(s.keys)), q_width});
      break;
    default:
      break;
  }
}

Point make_point(const Sizes& s, Score score, Weighting weighting) {
  Point p;
  p.options.heads = s.heads;
  p.options.kv_heads = s.kv_heads;
  p.options.queries = Packing(s.queries);
  p.options.keys = Packing(s.keys);
  p.options.score = score;
  p.options.weighting = weighting;
  p.options.top_k = 3;
  learn(p, {p.options.queries->rows(), s.heads * s.width});
  learn(p, {p.options.keys->rows(), s.kv_heads * s.width});
  learn(p, {p.options.keys->rows(), s.kv_heads * s.value_width});
  add_score_weights(p, s);
  return p;
}

// Additive weights here project queries and keys to as many columns, so heads cannot be grouped.
bool possible(const Sizes& s, Score score) {
  const bool additive = score == Score::kAdditive || score == Score::kConcat;
  return !additive || s.heads == s.kv_heads;
}

// Whether pairs are compared at the width of a head, as Shaw's vectors are.
bool keeps_width(Score score) {
  return score != Score::kAdditive && score != Score::kConcat && score != Score::kLocation;
}

struct Outcome {
  Attended attended;
  std::vector<std::vector<float>> values;  // output, then the gradients of the leaves
};

Outcome run(const Point& p, bool plain) {
  AttentionOptions options = p.options;
  options.plain = plain;
  if (p.prepare) p.prepare(options);
  for (const Tensor& leaf : p.leaves) leaf.clear_grad();
  TrainingScope training(Rng(4));
  Outcome outcome{attention(p.leaves[0], p.leaves[1], p.leaves[2], options), {}};
  const Tensor& y = outcome.attended.output;
  outcome.values.push_back(y.to_vector());
  if (!y.needs_grad()) return outcome;
  backward(y, random_tensor(y.shape(), 77));
  for (const Tensor& leaf : p.leaves) {
    outcome.values.push_back(leaf.grad().defined() ? leaf.grad().to_vector()
                                                   : std::vector<float>(leaf.size(), 0.0f));
  }
  return outcome;
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
        for (const NamedFeature& mask : masks()) {
          for (const NamedFeature& term : terms()) {
            if (term.name == "shaw" && !keeps_width(score)) continue;
            Point point = make_point(sizes, score, weighting);
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
    point.options.dropout = 0.4f;
    point.options.sinks = learn(point, {sizes.heads});
    point.options.mask.causal = true;
    const Outcome fused = run(point, false);
    EXPECT_EQ(fused.attended.path, AttentionPath::kFused);
    expect_near(fused, run(point, true), 3e-5f);
  }
}

// Every score with every weighting that has a gradient, by finite differences. Steps that would
// cross a kink (of relu, sparsemax, top-k) are told by two step sizes that disagree.
TEST(Attention, GradientsAreThoseOfFiniteDifferences) {
  const Sizes sizes{{3, 2}, {4, 3}, 2, 2, 3, 2};
  for (const Score score : all_scores()) {
    for (const Weighting weighting : all_weightings()) {
      if (weighting == Weighting::kHardArgmax || weighting == Weighting::kHardSample ||
          weighting == Weighting::kStraightThrough || weighting == Weighting::kMonotonicHard) {
        continue;  // no gradient, or not that of their value
      }
      SCOPED_TRACE(fmt::format("{} {}", name_of(score), name_of(weighting)));
      Point point = make_point(sizes, score, weighting);
      point.options.mask.causal = true;
      point.options.shaw = {learn(point, {3, 3}), learn(point, {3, 2})};
      if (score != Score::kScaledDot) point.options.shaw = {};
      const Outcome outcome = run(point, true);
      const Tensor seed = random_tensor(outcome.attended.output.shape(), 77);
      const auto loss = [&] {
        NoGrad no_grad;
        const Tensor y =
            attention(point.leaves[0], point.leaves[1], point.leaves[2], point.options).output;
        double sum = 0.0;
        for (size_t i = 0; i < y.size(); ++i) sum += double{y.data()[i]} * seed.data()[i];
        return sum;
      };
      for (size_t l = 0; l < point.leaves.size(); ++l) {
        expect_gradient(point.leaves[l], outcome.values[l + 1], loss);
        if (HasFatalFailure()) return;
      }
    }
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
  const Mask first{.causal = true, .q_offset = 0};
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
  expect_error<ShapeError>([&] { attention(q, k, k, {.score = Score::kGeneral}); },
                           "score general needs a query weight");
  expect_error<ConfigError>([&] { score_from_name("dots"); }, "unknown score 'dots'");
}

}  // namespace
}  // namespace attend
