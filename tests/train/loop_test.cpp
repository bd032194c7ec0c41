// A whole training loop: it learns, leaks nothing, and asks the system for nothing once warm.
#include <gtest/gtest.h>
#include <malloc.h>

#include "attend/base/parallel.h"
#include "attend/nn/dropout.h"
#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"
#include "attend/nn/norm.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"

namespace attend {
namespace {

struct LoopModel {
  Embedding embedding;
  LayerNorm norm;
  Linear hidden, output;
  Dropout drop{0.1f};

  explicit LoopModel(Rng& rng)
      : embedding(50, 32, rng), norm(32), hidden(32, 64, rng), output(64, 50, rng) {}

  Tensor operator()(const Tensor& ids) const {
    return output(drop(hidden(norm(embedding(ids)), Activation::kGelu)));
  }
  void visit(Visitor& v) {
    v("embedding", embedding);
    v("norm", norm);
    v("hidden", hidden);
    v("output", output);
  }
};

// Each id is to be answered by the next one. Batches are of uneven size, as packed ones are; each
// of the sizes comes by once in 40 steps.
struct LoopBatch {
  Tensor ids, targets;
};

LoopBatch batch_of(uint64_t step) {
  const RandomStream random(99, step);
  const size_t size = 20 + step * 7 % 40;
  LoopBatch batch{Tensor::empty({size}, DType::kInt32), Tensor::empty({size}, DType::kInt32)};
  for (size_t i = 0; i < size; ++i) {
    batch.ids.indices()[i] = static_cast<int32_t>(random.below(i, 50));
    batch.targets.indices()[i] = (batch.ids.indices()[i] + 1) % 50;
  }
  return batch;
}

struct LoopTrainer {
  Rng rng{1};
  LoopModel model{rng};
  Optimizer optimizer{parameters(model), {.rate = 1e-2, .clip_norm = 1.0}};
  uint64_t step = 0;

  float run_step() {
    const TrainingScope training(Rng(1, ++step << 32));
    const LoopBatch batch = batch_of(step);
    const Tensor loss = cross_entropy(model(batch.ids), batch.targets, {.label_smoothing = 0.05f});
    backward(loss);
    optimizer.step();
    return loss.item();
  }
};

size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.arena + info.hblkhd;
}

TEST(TrainingLoop, LearnsTheTask) {
  LoopTrainer trainer;
  const float first = trainer.run_step();
  float last = 0;
  for (int i = 0; i < 200; ++i) last = trainer.run_step();
  EXPECT_GT(first, 3.5f);
  EXPECT_LT(last, 1.0f);
}

TEST(TrainingLoop, AsksTheSystemForNothingOnceWarm) {
  const size_t at_start = pool_statistics().bytes_in_use;
  {
    LoopTrainer trainer;
    for (int i = 0; i < 40; ++i) trainer.run_step();
    const size_t allocations = pool_statistics().system_allocations;
    const size_t in_use = pool_statistics().bytes_in_use;
    [[maybe_unused]] const size_t heap = heap_bytes();
    for (int i = 0; i < 200; ++i) trainer.run_step();
    EXPECT_EQ(pool_statistics().system_allocations, allocations);
    EXPECT_EQ(pool_statistics().bytes_in_use, in_use);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_EQ(heap_bytes(), heap);
#endif
  }
  EXPECT_EQ(pool_statistics().bytes_in_use, at_start);
}

TEST(TrainingLoop, SameBitsForAnyNumberOfThreads) {
  const auto weights_after = [](int threads) {
    const ThreadCountScope scope(threads);
    LoopTrainer trainer;
    for (int i = 0; i < 20; ++i) trainer.run_step();
    std::vector<float> all;
    for (const NamedTensor& p : parameters(trainer.model)) {
      const std::vector<float> values = p.tensor.to_vector();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  const std::vector<float> one = weights_after(1);
  EXPECT_EQ(weights_after(2), one);
  EXPECT_EQ(weights_after(4), one);
}

}  // namespace
}  // namespace attend
