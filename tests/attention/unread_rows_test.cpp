// What is masked is never read: keys and values that no query may look at, and queries that may
// look at nothing, may hold NaN or infinity. Outputs and gradients, of learned parts as well, have
// the bits they have with zeros there.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/attention/points.h"
#include "tests/special_values.h"

namespace attend {
namespace {

const std::vector<Sizes>& sizes_with_unread_rows() {
  static const std::vector<Sizes> sizes{
      {{5, 3}, {9, 4}, 2, 2, 3, 2},
      {{0, 4, 3}, {4, 0, 7}, 2, 1, 2, 3},
      {{7}, {3}, 1, 1, 1, 16},
      {{2, 1}, {40, 17}, 4, 2, 16, 16},
  };
  return sizes;
}

const std::vector<Feature>& terms_and_dropout() {
  static const std::vector<Feature> all = [] {
    std::vector<Feature> features = terms();
    features.push_back({"dropout and softcap", [](Point& p, const Sizes&) {
                          p.call.options.dropout = 0.3f;
                          p.call.options.softcap = 2.0f;
                        }});
    return features;
  }();
  return all;
}

// Calls f(row) for each row of x that is not read.
template <typename F>
void for_unread(const Tensor& x, const std::vector<bool>& read, const F& f) {
  for (size_t row = 0; row < read.size(); ++row) {
    if (!read[row]) f(std::span(x.data() + row * x.width(), x.width()));
  }
}

void fill_unread(const Tensor& x, const std::vector<bool>& read, std::vector<float> values) {
  size_t at = 0;
  for_unread(x, read, [&](std::span<float> row) {
    for (float& value : row) value = values[at++ % values.size()];
  });
}

// The leaves that hold a row for each query, and for each key.
std::vector<Tensor> leaves_of_keys(const Point& point) {
  std::vector<Tensor> leaves{point.call.k, point.call.v};
  const Tensor& features = point.call.options.score_weights.location_inputs;
  if (features.defined()) leaves.push_back(features);
  return leaves;
}

void fill_unread(const Point& point, const plain::Attention::ReadRows& read,
                 const std::vector<float>& values) {
  fill_unread(point.call.q, read.queries, values);
  for (const Tensor& leaf : leaves_of_keys(point)) fill_unread(leaf, read.keys, values);
}

void expect_no_gradient(const Tensor& leaf, const std::vector<bool>& read) {
  if (!leaf.grad().defined()) return;
  for_unread(leaf.grad(), read, [](std::span<float> row) {
    for (const float value : row) ASSERT_EQ(value, 0.0f);
  });
}

// Whether there was a row that is not read.
bool expect_unread_rows_do_not_count(const Point& point) {
  const plain::Attention::ReadRows read = plain::Attention(point.call).read_rows();
  const auto some = [](const std::vector<bool>& rows) {
    return std::ranges::find(rows, false) != rows.end();
  };
  if (!some(read.queries) && !some(read.keys)) return false;
  for (const bool plain : {false, true}) {
    SCOPED_TRACE(plain ? "plain" : "as it comes");
    fill_unread(point, read, {0.0f});
    const Outcome clean = run(point, plain);
    fill_unread(point, read, {kNaN, kInf, -kInf});
    const Outcome spoiled = run(point, plain);
    for (size_t i = 0; i < clean.values.size(); ++i) {
      for (const float value : clean.values[i]) EXPECT_TRUE(std::isfinite(value));
      EXPECT_EQ(spoiled.values[i], clean.values[i])
          << (i == 0 ? "output" : "gradient of leaf ") << i;
    }
    expect_no_gradient(point.call.q, read.queries);
    for (const Tensor& leaf : leaves_of_keys(point)) expect_no_gradient(leaf, read.keys);
  }
  return true;
}

class UnreadRows : public testing::TestWithParam<Weighting> {};

TEST_P(UnreadRows, DoNotCount) {
  size_t tried = 0, at = 0;
  for (const Sizes& sizes : sizes_with_unread_rows()) {
    for (const Score score : all_scores()) {
      for (const Feature& mask : masks()) {
        for (const Feature& term : terms_and_dropout()) {
          if (at++ % 3 != 0 || !possible(sizes, score)) continue;
          Point point = make_point(sizes, score, GetParam());
          if (!term.fits(point.call.options)) continue;
          mask.apply(point, sizes);
          term.apply(point, sizes);
          SCOPED_TRACE(fmt::format("queries {}, score {}, mask {}, term {}", sizes.queries.size(),
                                   name_of(score), mask.name, term.name));
          tried += expect_unread_rows_do_not_count(point);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(tried, 300u);
}

INSTANTIATE_TEST_SUITE_P(All, UnreadRows, testing::ValuesIn(all_weightings()),
                         [](const auto& weighting) {
                           std::string name(name_of(weighting.param));
                           std::erase(name, '_');
                           return name;
                         });

// One pair is masked between two that are not.
TEST(UnreadRows, ACappedScoreOfAMaskedKeyHasNoGradient) {
  for (const bool plain : {false, true}) {
    Tensor q = Tensor::of({0.5f}, {1, 1}), k = Tensor::of({1, kNaN, 2}, {3, 1});
    const Tensor v = Tensor::of({1, 2, 3}, {3, 1});
    q.require_grad();
    k.require_grad();
    AttentionOptions options{.softcap = 2.0f, .plain = plain};
    options.mask.pairs = PairMask({1, 3}, {1, 0, 1});
    backward(attention(q, k, v, options).output);
    EXPECT_TRUE(std::isfinite(q.grad().item())) << plain;
    EXPECT_EQ(k.grad().data()[1], 0.0f);
    EXPECT_TRUE(std::isfinite(k.grad().data()[0]) && std::isfinite(k.grad().data()[2]));
  }
}

// A key that only the last query may look at: the outputs of the others, and the gradients of these
// queries, do not know it.
TEST(UnreadRows, NaNStaysWithTheQueriesThatMayLookAtIt) {
  const Sizes sizes{{4}, {4}, 2, 2, 3, 2};
  const Feature& causal = masks()[1];
  for (const Score score : all_scores()) {
    for (const Feature& term : terms()) {
      for (const bool plain : {false, true}) {
        Point point = make_point(sizes, score, Weighting::kSoftmax);
        if (!term.fits(point.call.options)) continue;
        causal.apply(point, sizes);
        term.apply(point, sizes);
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(score), term.name, plain));
        const auto first_rows = [&](size_t leaf) {
          const Outcome outcome = run(point, plain);
          const std::vector<float>& values = outcome.values[leaf];
          return std::vector(values.begin(),
                             values.begin() + static_cast<ptrdiff_t>(values.size() / 4 * 3));
        };
        const std::vector<float> y = first_rows(0), dq = first_rows(1);
        const size_t width = point.call.k.width();
        std::fill_n(point.call.k.data() + 3 * width, width, kNaN);
        const std::vector<float> y_after = first_rows(0), dq_after = first_rows(1);
        for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y_after[i], y[i], 1e-6f);
        for (size_t i = 0; i < dq.size(); ++i) ASSERT_NEAR(dq_after[i], dq[i], 1e-6f);
      }
    }
  }
}

}  // namespace
}  // namespace attend
