// The loss of word vectors and its gradients; sparse look-ups.
#include "attend/ops/word_context.h"

#include <gtest/gtest.h>

#include <functional>

#include "attend/base/rng.h"
#include "attend/ops/embedding.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"

namespace attend {
namespace {

WordWindows some_windows(bool together, bool paths) {
  WordWindows w;
  w.together = together;
  w.reach = 2;
  w.begin = {0, 0, 1, 2, 4};
  w.end = {3, 2, 5, 5, 5};
  w.first_output.push_back(0);
  for (int32_t p = 0; p < 5; ++p) {
    const int32_t count = paths ? 2 + p % 3 : 3;  // a path is as long as its word's code
    for (int32_t k = 0; k < count; ++k) {
      w.outputs.push_back((p + 2 * k) % 6);
      w.signs.push_back(paths ? ((p + k) % 2 == 0 ? -1.0f : 1.0f) : (k == 0 ? -1.0f : 1.0f));
    }
    w.first_output.push_back(static_cast<uint32_t>(w.outputs.size()));
  }
  return w;
}

Tensor random_leaf(const Shape& shape, uint64_t seed) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(seed, 0), -1.0f, 1.0f);
  return x.require_grad();
}

void expect_finite_differences(const Tensor& leaf, const std::function<Tensor()>& loss) {
  backward(loss());
  const std::vector<float> gradient = leaf.grad().to_vector();
  constexpr float kStep = 1e-2f;
  for (size_t i = 0; i < leaf.size(); ++i) {
    const float before = leaf.data()[i];
    leaf.data()[i] = before + kStep;
    const float above = loss().item();
    leaf.data()[i] = before - kStep;
    const float below = loss().item();
    leaf.data()[i] = before;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 2e-3) << i;
  }
  leaf.clear_grad();
}

TEST(WordContextLoss, GradientsAreThoseOfFiniteDifferences) {
  for (const bool together : {false, true}) {
    for (const bool paths : {false, true}) {
      const WordWindows windows = some_windows(together, paths);
      const Tensor words = random_leaf({4, 3}, 1), outputs = random_leaf({6, 3}, 2);
      const Tensor ids = Tensor::ids({0, 3, 1, 0, 2});
      const auto loss = [&] {
        return word_context_loss(sparse_embedding(words, ids), outputs, windows).sum;
      };
      expect_finite_differences(words, loss);
      words.clear_grad(), outputs.clear_grad();
      expect_finite_differences(outputs, loss);
    }
  }
}

TEST(WordContextLoss, RefusesWhatDoesNotFit) {
  WordWindows windows = some_windows(false, false);
  const Tensor x = Tensor::zeros({5, 3}), table = Tensor::zeros({6, 3});
  expect_error<ShapeError>(
      [&] {
        word_context_loss(Tensor::zeros({4, 3}), table, windows);
      },
      "do not fit 5 positions");
  windows.outputs[1] = 6;
  expect_error<DataError>([&] { word_context_loss(x, table, windows); },
                          "output 6 is outside a table of 6 rows");
  windows.outputs[1] = 0;
  windows.end[0] = 4;
  expect_error<DataError>([&] { word_context_loss(x, table, windows); },
                          "the window of position 0 does not fit");
}

TEST(SparseEmbedding, HasTheGradientOfADenseOne) {
  const Tensor a = random_leaf({7, 4}, 1);
  const Tensor b = Tensor::of(a.span(), a.shape()).require_grad();
  const Tensor ids = Tensor::ids({3, 1, 3, 6, 3});
  const Tensor weights = random_leaf({5, 4}, 3).detach();
  const Tensor sparse = sparse_embedding(a, ids), dense = embedding(b, ids);
  EXPECT_EQ(sparse.to_vector(), dense.to_vector());
  backward(sparse, weights);
  backward(dense, weights);
  EXPECT_TRUE(row_gradient(a).defined());
  EXPECT_EQ(a.grad().to_vector(), b.grad().to_vector());
}

TEST(SparseEmbedding, IsAddedToWhatElseTheTableIsUsedFor) {
  const Tensor table = Tensor::full({3, 2}, 1.0f).require_grad();
  backward(sum(sparse_embedding(table, Tensor::ids({2, 2}))));
  backward(sum(sparse_embedding(table, Tensor::ids({0}))));
  EXPECT_EQ(row_gradient(table).ids.size(), 3u);
  backward(sum(embedding(table, Tensor::ids({1}))));
  EXPECT_FALSE(row_gradient(table).defined());
  EXPECT_EQ(table.grad().to_vector(), (std::vector<float>{1, 1, 1, 1, 2, 2}));
  table.clear_grad();
  EXPECT_FALSE(table.grad().defined());
}

TEST(SparseEmbedding, MeansOfRowsShareTheirGradient) {
  const Tensor table = random_leaf({5, 3}, 4);
  const Packing packing(std::vector<int32_t>{2, 1});
  const auto loss = [&] {
    return sum(sparse_embedding_means(table, Tensor::ids({4, 1, 1}), packing));
  };
  EXPECT_NEAR(
      loss().item(),
      [&] {
        double all = 0;
        for (size_t k = 0; k < 3; ++k) {
          all += 0.5 * double{table.data()[12 + k]} + 1.5 * double{table.data()[3 + k]};
        }
        return all;
      }(),
      1e-6);
  expect_finite_differences(table, loss);
}

}  // namespace
}  // namespace attend
