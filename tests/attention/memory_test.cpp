// Attention over an external memory.
#include "attend/attention/memory.h"

#include <gtest/gtest.h>

#include "attend/attention/recorder.h"
#include "attend/ops/elementwise.h"
#include "tests/attention/modules.h"

namespace attend {
namespace {

MemoryAttention make_memory(const MemoryConfig& config) {
  Rng rng(1);
  MemoryAttention layer(config, rng);
  randomize(layer);
  return layer;
}

// Two hops by hand, as the paper writes them.
TEST(Memory, HopsAreThoseOfThePaper) {
  const MemoryAttention layer = make_memory({.width = 4, .memory_width = 3, .hops = 2});
  const Tensor x = random_tensor({2, 4}, 1), slots = random_tensor({5, 3}, 2);
  const Packing queries = Packing::of({2}), memories = Packing::of({5});
  const Tensor k = layer.key(slots), v = layer.value(slots);
  const auto read = [&](const Tensor& u) {
    return attention(u, k, v, {.score = Score::kDot}).output;
  };
  const Tensor u = add(layer.onward(x), read(x));
  expect_values(layer(x, queries, slots, memories), add(u, read(u)).to_vector(), 1e-5f);
}

TEST(Memory, OfEachSequenceIsItsOwn) {
  const MemoryAttention layer = make_memory({.width = 4, .hops = 2, .heads = 2});
  const Packing queries = Packing::of({2, 1, 1}), memories = Packing::of({3, 0, 4});
  const Tensor x = random_tensor({4, 4}, 1), slots = random_tensor({7, 4}, 2);
  const Tensor y = layer(x, queries, slots, memories);
  for (size_t s = 0; s < 3; ++s) {
    const Tensor q = x.slice_rows(queries.begin(s), queries.length(s));
    const Tensor m = slots.slice_rows(memories.begin(s), memories.length(s));
    expect_values(layer(q, Packing::even(1, q.rows()), m, Packing::even(1, m.rows())),
                  y.slice_rows(queries.begin(s), queries.length(s)).to_vector(), 1e-5f);
  }
}

TEST(Memory, LearnedTableIsAMemoryForAll) {
  MemoryAttention layer = make_memory({.width = 4, .memory_width = 3, .slots = 6, .hops = 3});
  Tensor x = random_tensor({3, 4}, 1);
  expect_values(layer(x), layer(x, Packing::of({3}), layer.table, Packing::of({6})).to_vector(),
                0.0f);
  EXPECT_EQ(names_of(parameters(layer)),
            (std::vector<std::string>{"table", "key.weight", "value.weight", "onward.weight"}));
  expect_gradients(layer, x, [&] { return layer(x); });
}

TEST(Memory, EachHopIsACall) {
  MemoryAttention layer = make_memory({.width = 4, .slots = 6, .hops = 3});
  layer.name = "memory";
  Recorder recorder;
  layer(random_tensor({2, 4}, 1));
  ASSERT_EQ(recorder.heads.size(), 3u);
  EXPECT_EQ(recorder.heads[2].call, 2u);
  EXPECT_EQ(recorder.heads[2].weights.shape(), (Shape{2, 6}));
}

TEST(Memory, ErrorsNameTheValuesAndTheRemedy) {
  expect_error<ConfigError>([] { make_memory({.width = 4, .hops = 0}); },
                            "width 4, hops 0 and heads 1");
  expect_error<ConfigError>([] { make_memory({.width = 4, .heads = 3}); },
                            "3 heads do not divide width 4");
  expect_error<ConfigError>([] { make_memory({.width = 4, .score = Score::kConcat}); },
                            "score concat has weights of its own; use dot");
  expect_error<ConfigError>(
      [] {
        make_memory({.width = 4})(Tensor::zeros({1, 4}));
      },
      "there is no learned table; set slots, or give the memory");
}

}  // namespace
}  // namespace attend
