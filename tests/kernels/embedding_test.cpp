#include "attend/kernels/embedding.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {
namespace {

struct EmbeddingCase {
  size_t ids, vocab, width;
  float scale;
};
const EmbeddingCase kEmbeddingCases[] = {
    {0, 4, 5, 1.0f},       {3, 2, 0, 1.0f},   {1, 1, 1, 2.0f},
    {20, 7, 13, 0.5f},     {5, 100, 8, 1.0f}, {300, 50, 65, 3.0f},
    {700, 2000, 33, 1.0f}, {0, 0, 3, 1.0f},   {200, 20000, 64, 2.0f}};

std::vector<float> embedding_numbers(size_t size, uint64_t stream) {
  std::vector<float> x(size);
  fill_normal(x, RandomStream(9, stream), 0.0f, 1.0f);
  return x;
}

// Some ids often, most of them never: like words.
std::vector<int32_t> word_ids(const EmbeddingCase& c) {
  std::vector<int32_t> ids(c.ids);
  for (size_t i = 0; i < c.ids; ++i) {
    const uint64_t below = RandomStream(9, 99).below(i, c.vocab) + 1;
    ids[i] = static_cast<int32_t>(RandomStream(9, 100).below(i, below));
  }
  return ids;
}

TEST(Embedding, TakesRowsOfTheTable) {
  for_each_target([] {
    for (const EmbeddingCase& c : kEmbeddingCases) {
      const auto table = embedding_numbers(c.vocab * c.width + 1, 1);
      const auto ids = word_ids(c);
      std::vector<float> y(c.ids * c.width + 2, -1.0f);
      embedding({ids, c.vocab, c.width, c.scale}, table.data() + 1, y.data() + 1);
      for (size_t i = 0; i < c.ids; ++i) {
        for (size_t j = 0; j < c.width; ++j) {
          const size_t at = static_cast<size_t>(ids[i]) * c.width + j;
          ASSERT_EQ(y[1 + i * c.width + j], c.scale * table[1 + at]);
        }
      }
      EXPECT_EQ(y.front(), -1.0f);
      EXPECT_EQ(y.back(), -1.0f);
    }
  });
}

TEST(Embedding, BackwardSumsTheRowsOfEachId) {
  for_each_target([] {
    for (const EmbeddingCase& c : kEmbeddingCases) {
      const auto dy = embedding_numbers(c.ids * c.width + 1, 2),
                 before = embedding_numbers(c.vocab * c.width + 2, 3);
      const auto ids = word_ids(c);
      for (const bool add : {false, true}) {
        std::vector<double> expected(c.vocab * c.width);
        for (size_t at = 0; at < expected.size(); ++at) expected[at] = add ? before[1 + at] : 0.0;
        for (size_t i = 0; i < c.ids; ++i) {
          for (size_t j = 0; j < c.width; ++j) {
            expected[static_cast<size_t>(ids[i]) * c.width + j] +=
                double{c.scale} * dy[1 + i * c.width + j];
          }
        }
        auto d_table = before;
        embedding_backward({ids, c.vocab, c.width, c.scale}, dy.data() + 1, d_table.data() + 1,
                           add);
        for (size_t at = 0; at < expected.size(); ++at)
          ASSERT_NEAR(d_table[1 + at], expected[at], 1e-4);
        EXPECT_EQ(d_table.front(), before.front());
        EXPECT_EQ(d_table.back(), before.back());
      }
    }
  });
}

// Rows that lie on register boundaries of a large table are written past the caches.
TEST(Embedding, BackwardWritesLargeAlignedTables) {
  for_each_target([] {
    const EmbeddingCase c{3000, 8200, 128, 2.0f};
    const auto ids = word_ids(c);
    const auto dy = embedding_numbers(c.ids * c.width, 5);
    std::vector<double> expected(c.vocab * c.width);
    for (size_t at = 0; at < dy.size(); ++at) {
      expected[static_cast<size_t>(ids[at / c.width]) * c.width + at % c.width] += 2.0 * dy[at];
    }
    std::vector<float> memory(c.vocab * c.width + 16, 7.0f);
    void* start = memory.data();
    size_t space = memory.size() * sizeof(float);
    auto* d_table =
        static_cast<float*>(std::align(64, c.vocab * c.width * sizeof(float), start, space));
    embedding_backward({ids, c.vocab, c.width, c.scale}, dy.data(), d_table, false);
    for (size_t at = 0; at < expected.size(); ++at) ASSERT_NEAR(d_table[at], expected[at], 1e-4);
  });
}

TEST(Embedding, BackwardAddsInTheOrderOfRows) {
  // 1e8 - 1e8 + 1 is 1 in fp32; with the 1 any earlier it is lost.
  const std::vector<int32_t> ids = {1, 0, 1, 1};
  const std::vector<float> dy = {1e8f, 5.0f, -1e8f, 1.0f};
  std::vector<float> d_table(2);
  embedding_backward({ids, 2, 1}, dy.data(), d_table.data(), false);
  EXPECT_EQ(d_table[0], 5.0f);
  EXPECT_EQ(d_table[1], 1.0f);
}

TEST(Embedding, SameBitsForAnyNumberOfThreads) {
  const EmbeddingCase c{3000, 500, 130, 0.3f};
  const auto ids = word_ids(c);
  const auto dy = embedding_numbers(c.ids * c.width, 4);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 4}) {
    const ThreadCountScope scope(threads);
    auto& d_table = results.emplace_back(c.vocab * c.width, 1.0f);
    embedding_backward({ids, c.vocab, c.width, c.scale}, dy.data(), d_table.data(), true);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Embedding, FindsTheFirstIdOutside) {
  const std::vector<int32_t> ids = {0, 9, 3, 10, -1};
  EXPECT_EQ(first_id_outside(ids, 10), 3u);
  EXPECT_EQ(first_id_outside(ids, 11), 4u);
  EXPECT_EQ(first_id_outside(ids, 1), 1u);
  EXPECT_EQ(first_id_outside(std::span(ids).first(3), 10), 3u);
  EXPECT_EQ(first_id_outside({}, 0), 0u);
}

}  // namespace
}  // namespace attend::kernels
