// Gradients of an update in shards: the same bits as a plain loop over them.
#include "attend/train/update.h"

#include <gtest/gtest.h>

#include <set>

#include "attend/base/parallel.h"
#include "attend/nn/dropout.h"
#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"

namespace attend {
namespace {

struct Network {
  Embedding embedding;
  Linear output;
  Dropout drop{0.2f};
  Tensor unused = Tensor::zeros({3}).require_grad();

  explicit Network(Rng& rng) : embedding(40, 24, rng), output(24, 40, rng) {}
  Tensor operator()(const Tensor& ids) const { return output(drop(embedding(ids))); }
  void visit(Visitor& v) {
    v("embedding", embedding);
    v("output", output);
    v("unused", unused);
  }
};

// Shards of uneven sizes, with some labels that are ignored.
Loss loss_of(const Network& network, size_t shard) {
  const RandomStream random(7, shard);
  const size_t size = 10 + 13 * shard;
  const Tensor ids = Tensor::empty({size}, DType::kInt32), labels = Tensor::like(ids);
  double count = 0;
  for (size_t i = 0; i < size; ++i) {
    ids.indices()[i] = static_cast<int32_t>(random.below(2 * i, 40));
    const bool ignored = i % 7 == 3;
    labels.indices()[i] =
        ignored ? kIgnoredTarget : static_cast<int32_t>(random.below(2 * i + 1, 40));
    count += ignored ? 0 : 1;
  }
  return {cross_entropy(network(ids), labels, {.reduction = Reduction::kSum}), count};
}

using Values = std::vector<std::vector<float>>;

Values values_of(const std::vector<Tensor>& gradients) {
  Values values;
  for (const Tensor& g : gradients)
    values.push_back(g.defined() ? g.to_vector() : Values::value_type{});
  return values;
}

constexpr uint64_t kSeed = 5, kUpdate = 11;

// The gradients of one shard's sum, as the tape leaves them.
std::vector<Tensor> shard_gradients(Network& network, size_t shard, size_t shards) {
  const TrainingScope training(Rng(kSeed + 1, (kUpdate * shards + shard) << 24));
  backward(loss_of(network, shard).sum);
  std::vector<Tensor> found;
  for (const NamedTensor& p : parameters(network)) {
    found.push_back(p.tensor.grad());
    p.tensor.clear_grad();
  }
  return found;
}

// (0 + 1) + (2 + 3), and so on, written as one reads it.
std::vector<float> tree_sum(const std::vector<std::vector<Tensor>>& all, size_t parameter,
                            size_t begin, size_t count) {
  if (count == 1) {
    const Tensor& g = all[begin][parameter];
    return g.defined() ? g.to_vector() : std::vector<float>{};
  }
  std::vector<float> left = tree_sum(all, parameter, begin, count / 2);
  const std::vector<float> right = tree_sum(all, parameter, begin + count / 2, count / 2);
  for (size_t i = 0; i < left.size(); ++i) left[i] += right[i];
  return left;
}

TEST(Update, ShardsHaveTheBitsOfAPlainLoopOverThem) {
  for (const size_t shards : {2, 4, 8}) {
    Rng rng(1);
    Network network(rng);
    std::vector<std::vector<Tensor>> alone;
    double sum = 0, count = 0;
    for (size_t shard = 0; shard < shards; ++shard) {
      alone.push_back(shard_gradients(network, shard, shards));
      const TrainingScope training(Rng(kSeed + 1, (kUpdate * shards + shard) << 24));
      const Loss loss = loss_of(network, shard);
      sum += double{loss.sum.item()};
      count += loss.count;
    }
    Values expected;
    for (size_t p = 0; p < alone.front().size(); ++p) {
      expected.push_back(tree_sum(alone, p, 0, shards));
      for (float& g : expected.back()) g *= 1.0f / static_cast<float>(count);
    }
    for (const int threads : {1, 2, 4}) {
      const ThreadCountScope scope(threads);
      const UpdateGradients update =
          update_gradients(parameters(network), {kSeed, kUpdate, shards},
                           [&](size_t shard) { return loss_of(network, shard); });
      EXPECT_EQ(values_of(update.gradients), expected) << shards << " on " << threads;
      EXPECT_EQ(update.loss, sum);
      EXPECT_EQ(update.count, count);
    }
    EXPECT_FALSE(parameters(network).front().tensor.grad().defined());
  }
}

TEST(Update, OneShardIsOneBackwardPassOfTheMean) {
  Rng rng(1);
  Network network(rng);
  std::vector<Tensor> expected;
  {
    const TrainingScope training(Rng(kSeed + 1, kUpdate << 24));
    const Loss loss = loss_of(network, 0);
    backward(scale(loss.sum, 1.0f / static_cast<float>(loss.count)));
    for (const NamedTensor& p : parameters(network)) expected.push_back(p.tensor.grad());
    clear_grads(network);
  }
  const UpdateGradients update =
      update_gradients(parameters(network), {kSeed, kUpdate, 1},
                       [&](size_t shard) { return loss_of(network, shard); });
  EXPECT_EQ(values_of(update.gradients), values_of(expected));
  EXPECT_FALSE(update.gradients.back().defined()) << "of what was not used";
}

TEST(Update, FewGradientsAreAliveAtOnce) {
  constexpr size_t kShards = 16;
  Rng rng(1);
  Network network(rng);
  release_unused_memory();               // larger blocks of other tests would serve, and count
  size_t before = 0, one = 0, most = 0;  // bytes in use: at first, for one set, and at the most
  update_gradients(parameters(network), {1, 0, kShards}, [&](size_t shard) {
    if (shard == 0) before = pool_statistics().bytes_in_use;
    const size_t held = pool_statistics().bytes_in_use - before;
    if (shard == 1) one = held;
    most = std::max(most, held);
    return loss_of(network, 0);
  });
  EXPECT_GT(one, 0u);
  // log2(16) sets beside those of the shard under way; blocks may be larger than what they hold.
  EXPECT_GE(most, 4 * one);
  EXPECT_LT(most, 8 * one);
}

TEST(Update, ShardsHaveRandomNumbersOfTheirOwn) {
  std::set<std::pair<uint64_t, uint64_t>> streams;
  for (uint64_t update = 0; update < 5; ++update) {
    for (size_t shard = 0; shard < 4; ++shard) {
      const UpdateNumber number{3, update, 4};
      const RandomStream random = number.objective(shard);
      EXPECT_TRUE(streams.emplace(random.seed(), random.stream()).second);
      EXPECT_TRUE(
          streams.emplace(number.dropout(shard).seed(), number.dropout(shard).next()).second);
    }
  }
}

TEST(Update, NothingToLearnGivesNoGradients) {
  Rng rng(1);
  Network network(rng);
  const auto nothing = [](size_t) { return Loss{Tensor::full({}, 0.0f), 0}; };
  for (const size_t shards : {1, 2}) {
    const UpdateGradients update = update_gradients(parameters(network), {1, 0, shards}, nothing);
    EXPECT_EQ(update.count, 0);
    for (const Tensor& g : update.gradients) EXPECT_FALSE(g.defined());
  }
  expect_error<ConfigError>([&] { update_gradients({}, {1, 0, 3}, nothing); }, "power of two");
}

// Rows of several shards, one after the other, and of the sum where the loss asks for it.
TEST(UpdateGradients, RowsOfShardsAreJoined) {
  for (const bool summed : {false, true}) {
    const Tensor table = Tensor::zeros({6, 2}).require_grad();
    const UpdateGradients update =
        update_gradients(std::vector<NamedTensor>{{"table", table}}, {1, 0, 4}, [&](size_t shard) {
          const auto id = static_cast<int32_t>(shard % 3);
          return Loss{
              .sum = sum(sparse_embedding(table, Tensor::ids({id}))), .count = 2, .summed = summed};
        });
    EXPECT_FALSE(update.gradients[0].defined());
    const Tensor ids = update.rows[0].ids;
    EXPECT_EQ(std::vector<int32_t>(ids.indices(), ids.indices() + ids.size()),
              (std::vector<int32_t>{0, 1, 2, 0}));
    EXPECT_EQ(update.rows[0].values.to_vector(), std::vector<float>(8, summed ? 1.0f : 0.125f));
  }
}

}  // namespace
}  // namespace attend
