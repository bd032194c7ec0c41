// Pooling by attention, and induced points.
#include "attend/attention/pooling.h"

#include <gtest/gtest.h>

#include "tests/attention/modules.h"

namespace attend {
namespace {

MultiHeadConfig small_pooling() {
  MultiHeadConfig config;
  config.width = 6;
  config.heads = 2;
  return config;
}

AttentionPooling make_pooling(size_t queries, size_t source_width = 0) {
  Rng rng(1);
  MultiHeadConfig config = small_pooling();
  config.source_width = source_width;
  AttentionPooling pooling({.queries = queries, .attention = config}, rng);
  randomize(pooling);
  return pooling;
}

InducedAttention make_induced(size_t points) {
  Rng rng(1);
  InducedAttention induced({.points = points, .attention = small_pooling()}, rng);
  randomize(induced);
  return induced;
}

TEST(AttentionPooling, MakesAFewRowsOfEachSequence) {
  const AttentionPooling one = make_pooling(1), three = make_pooling(3, 4);
  const Packing packing = Packing::of({5, 1, 0, 3});
  EXPECT_EQ(one(random_tensor({9, 6}, 1), packing).shape(), (Shape{4, 6}));
  const Tensor x = random_tensor({9, 4}, 2);
  const Tensor y = three(x, packing);
  EXPECT_EQ(y.shape(), (Shape{12, 6}));
  EXPECT_EQ(three.packing(4), Packing::of({3, 3, 3, 3}));
  for (size_t s = 0; s < 4; ++s) {
    const Tensor rows = x.slice_rows(packing.begin(s), packing.length(s));
    const Tensor direct =
        three.attention(three.queries, Packing::of({3}), rows, Packing::even(1, rows.rows()));
    expect_values(y.slice_rows(3 * s, 3), direct.to_vector(), 1e-5f);
  }
}

TEST(AttentionPooling, DoesNotSeeTheOrderOfRows) {
  const AttentionPooling pooling = make_pooling(2);
  const Tensor x = random_tensor({5, 6}, 1);
  const Packing packing = Packing::of({5});
  expect_values(pooling(pick_rows(x, {4, 2, 0, 1, 3}), packing), pooling(x, packing).to_vector(),
                1e-5f);
}

// Queries and keys that say nothing pool to the mean.
TEST(AttentionPooling, OfEqualScoresIsTheMean) {
  AttentionPooling pooling = make_pooling(1);
  std::ranges::fill(pooling.attention.key.weight.value.span(), 0.0f);
  const Tensor x = random_tensor({4, 6}, 1), mean = Tensor::zeros({1, 6});
  for (size_t i = 0; i < 24; ++i) mean.data()[i % 6] += x.data()[i] / 4.0f;
  const Tensor expected = pooling.attention.output(pooling.attention.value(mean));
  expect_values(pooling(x, Packing::of({4})), expected.to_vector(), 1e-5f);
}

TEST(AttentionPooling, GradientsReachAllParameters) {
  AttentionPooling pooling = make_pooling(2);
  pooling.attention.key.bias = {};  // a softmax does not see it
  Tensor x = random_tensor({5, 6}, 1);
  expect_gradients(pooling, x, [&] { return pooling(x, Packing::of({3, 2})); });
  EXPECT_EQ(names_of(parameters(pooling)).front(), "queries");
}

TEST(InducedAttention, IsTwoLooks) {
  const InducedAttention induced = make_induced(3);
  const Packing packing = Packing::of({5, 2});
  const Tensor x = random_tensor({7, 6}, 1);
  const Tensor points = induced.points(x, packing);
  ASSERT_EQ(points.rows(), 6u);
  const Tensor y = induced(x, packing);
  for (size_t s = 0; s < 2; ++s) {
    const Tensor rows = x.slice_rows(packing.begin(s), packing.length(s));
    const Tensor direct = induced.attention(rows, Packing::even(1, rows.rows()),
                                            points.slice_rows(3 * s, 3), Packing::of({3}));
    expect_values(y.slice_rows(packing.begin(s), packing.length(s)), direct.to_vector(), 1e-5f);
  }
}

TEST(InducedAttention, IsPermutationEquivariant) {
  const InducedAttention induced = make_induced(3);
  const Tensor x = random_tensor({5, 6}, 1);
  const std::vector<size_t> order{4, 2, 0, 1, 3};
  const Packing packing = Packing::of({5});
  expect_values(induced(pick_rows(x, order), packing),
                pick_rows(induced(x, packing), order).to_vector(), 1e-5f);
}

TEST(InducedAttention, GradientsReachAllParameters) {
  InducedAttention induced = make_induced(2);
  randomize(induced, 0.9f);
  induced.attention.key.bias = induced.points.attention.key.bias = {};
  Tensor x = random_tensor({5, 6}, 1);
  expect_gradients(induced, x, [&] { return induced(x, Packing::of({3, 2})); });
}

TEST(AttentionPooling, ErrorsNameTheValuesAndTheRemedy) {
  Rng rng(1);
  MultiHeadConfig config = small_pooling();
  expect_error<ConfigError>([&] { AttentionPooling({.queries = 0, .attention = config}, rng); },
                            "0 learned queries give nothing; have at least 1");
  config.positions = Positions::kRotary;
  expect_error<ConfigError>([&] { AttentionPooling({.queries = 1, .attention = config}, rng); },
                            "positions are rotary; leave all three out");
  expect_error<ConfigError>([&] { InducedAttention({.points = 1, .attention = config}, rng); },
                            "induced attention: learned queries have no place");
  config = small_pooling();
  config.source_width = 5;
  expect_error<ConfigError>([&] { InducedAttention({.points = 1, .attention = config}, rng); },
                            "its width is 6 and source_width 5");
}

}  // namespace
}  // namespace attend
