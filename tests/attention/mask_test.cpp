// Masks against the sentence that defines each, pair by pair.
#include "attend/attention/mask.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "attend/attention/attention.h"
#include "tests/attention/values.h"

namespace attend {
namespace {

const Packing kQueries = Packing::of({4, 0, 6, 9}), kKeys = Packing::of({7, 3, 6, 5});

std::vector<int32_t> all_keys(const Packing& keys) {
  std::vector<int32_t> counts;
  for (size_t s = 0; s < keys.count(); ++s) counts.push_back(static_cast<int32_t>(keys.length(s)));
  return counts;
}

// What the comments of Mask say of query i and key j of sequence s.
bool allowed(const Mask& mask, const std::vector<int32_t>& counts, size_t s, int64_t i, int64_t j) {
  const int64_t last = counts[s] - static_cast<int64_t>(kQueries.length(s));
  const int64_t p = (mask.q_offset.empty()       ? last
                     : mask.q_offset.size() == 1 ? mask.q_offset[0]
                                                 : mask.q_offset[s]) +
                    i;
  if (j >= counts[s]) return false;
  const int64_t prefix = mask.prefix.empty()       ? 0
                         : mask.prefix.size() == 1 ? mask.prefix[0]
                                                   : mask.prefix[s];
  if (mask.causal && j > p && j >= prefix) return false;
  if (mask.strictly_causal && j >= p && j >= prefix) return false;
  if (mask.left && j < p - *mask.left) return false;
  if (mask.right && j > p + *mask.right) return false;
  if (mask.q_documents.empty()) return true;
  return mask.q_documents[kQueries.begin(s) + static_cast<size_t>(i)] ==
         mask.k_documents[kKeys.begin(s) + static_cast<size_t>(j)];
}

void expect_ranges(const Mask& mask, const std::vector<int32_t>& counts) {
  const std::vector<kernels::KeyRange> ranges = key_ranges(mask, kQueries, kKeys, counts);
  ASSERT_EQ(ranges.size(), kQueries.rows());
  for (size_t s = 0; s < kQueries.count(); ++s) {
    for (size_t i = 0; i < kQueries.length(s); ++i) {
      const kernels::KeyRange range = ranges[kQueries.begin(s) + i];
      for (int32_t j = 0; j < static_cast<int32_t>(kKeys.length(s)); ++j) {
        ASSERT_EQ(j >= range.begin && j < range.end,
                  allowed(mask, counts, s, static_cast<int64_t>(i), j))
            << "sequence " << s << " query " << i << " key " << j;
      }
    }
  }
}

std::vector<int32_t> documents_of(const Packing& packing, int32_t each) {
  std::vector<int32_t> documents;
  for (size_t s = 0; s < packing.count(); ++s) {
    for (size_t i = 0; i < packing.length(s); ++i) {
      documents.push_back(static_cast<int32_t>(i) / each);
    }
  }
  return documents;
}

TEST(Mask, EveryCombinationIsThatOfItsParts) {
  const std::vector<int32_t> whole = all_keys(kKeys), some{5, 0, 6, 2};
  size_t tried = 0;
  for (const std::vector<int32_t>& counts : {whole, some}) {
    for (const auto& [causal, strictly] : {std::pair(false, false), {true, false}, {false, true}}) {
      for (const auto& offset : {std::vector<int64_t>{}, {2}, {3, 0, -1, 1}}) {
        for (const auto& left : {std::optional<int64_t>(), std::optional<int64_t>(2)}) {
          for (const auto& right : {std::optional<int64_t>(), std::optional<int64_t>(0)}) {
            for (const auto& prefix : {std::vector<int32_t>{}, {3}, {1, 2, 4, 0}}) {
              for (const bool documents : {false, true}) {
                if (!causal && !strictly && !prefix.empty()) continue;
                Mask mask{.causal = causal, .strictly_causal = strictly, .q_offset = offset};
                mask.left = left;
                mask.right = right;
                mask.prefix = prefix;
                if (documents) {
                  mask.q_documents = documents_of(kQueries, 3);
                  mask.k_documents = documents_of(kKeys, 2);
                }
                expect_ranges(mask, counts);
                if (testing::Test::HasFatalFailure()) return;
                ++tried;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(tried, 2u * 12 * 2 * (1 + 3 + 3));
}

TEST(Mask, WindowsMayBeWiderThanAnySequence) {
  const int64_t widest = std::numeric_limits<int64_t>::max();
  expect_ranges({.left = 1 << 30, .right = 1 << 30}, all_keys(kKeys));
  for (const kernels::KeyRange range :
       key_ranges({.left = widest, .right = widest}, kKeys, kKeys, all_keys(kKeys))) {
    EXPECT_EQ(range.begin, 0);
    EXPECT_GE(range.end, 3);
  }
}

// An offset beyond 32 bits is what it says, and so is one whose sum with a window or a query's
// place is beyond 64.
TEST(Mask, OffsetsMayBeAsLargeAsTheirType) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const Packing rows = Packing::of({3});
  const std::vector<int32_t> counts{3};
  const auto expect = [&](const Mask& mask, const std::vector<std::pair<int, int>>& expected) {
    const std::vector<kernels::KeyRange> ranges = key_ranges(mask, rows, rows, counts);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(ranges[i].begin, expected[i].first) << mask.q_offset[0] << " query " << i;
      EXPECT_EQ(ranges[i].end, expected[i].second) << mask.q_offset[0] << " query " << i;
    }
  };
  const std::vector<std::pair<int, int>> all(3, {0, 3}), none(3, {0, 0});
  for (const int64_t offset : {int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 40, kMost}) {
    expect({.causal = true, .q_offset = {offset}}, all);
    expect({.q_offset = {offset}, .left = 1, .right = 1}, none);
    expect({.q_offset = {offset}, .left = offset}, {{0, 3}, {1, 3}, {2, 3}});
    expect({.q_offset = {offset}, .left = offset - 1}, {{1, 3}, {2, 3}, {0, 0}});
    expect({.q_offset = {offset}, .right = kMost}, all);
  }
  for (const int64_t offset : {-(int64_t{1} << 31), -(int64_t{1} << 32), kLeast + 1, kLeast}) {
    expect({.causal = true, .q_offset = {offset}}, none);
    expect({.q_offset = {offset}, .left = 1, .right = 1}, none);
    expect({.q_offset = {offset}, .left = kMost}, all);
  }
  expect({.q_offset = {kLeast + 1}, .right = kMost}, {{0, 1}, {0, 2}, {0, 3}});
  expect({.q_offset = {kLeast}, .right = kMost}, {{0, 0}, {0, 1}, {0, 2}});
  expect({.causal = true, .q_offset = {kLeast}, .prefix = {2}}, {{0, 2}, {0, 2}, {0, 2}});
}

// The first query of a sequence has nothing before it; a prefix is there for all the same.
TEST(Mask, StrictlyCausalLeavesOutTheQuerysOwnPosition) {
  const Tensor q = Tensor::zeros({4, 1}), v = Tensor::of({1, 3, 8, 16}, {4, 1});
  for (const bool plain : {false, true}) {
    const auto output = [&](const Mask& mask) {
      return attention(q, q, v, {.mask = mask, .plain = plain}).output;
    };
    expect_values(output({.strictly_causal = true}), {0, 1, 2, 4}, 1e-6f);
    // Both are as strict as the stricter one.
    expect_values(output({.causal = true, .strictly_causal = true}), {0, 1, 2, 4}, 1e-6f);
    expect_values(output({.strictly_causal = true, .prefix = {2}}), {2, 2, 2, 4}, 1e-6f);
    expect_values(output({.strictly_causal = true, .left = 1}), {0, 1, 3, 8}, 1e-6f);
  }
}

// Each sequence starts where its own offset says, as in a batch of decoders at different steps.
TEST(Mask, OffsetsMayBeGivenForEachSequence) {
  const Tensor q = Tensor::zeros({2, 1}), k = Tensor::zeros({6, 1});
  const Tensor v = Tensor::of({1, 3, 8, 1, 3, 8}, {6, 1});
  AttentionOptions options;
  options.queries = Packing::of({1, 1});
  options.keys = Packing::of({3, 3});
  options.mask = {.causal = true, .q_offset = {0, 2}};
  for (const bool plain : {false, true}) {
    options.plain = plain;
    expect_values(attention(q, k, v, options).output, {1, 4}, 1e-6f);
  }
}

// A row of keys for all queries, and a column of queries for all keys.
TEST(Mask, PairsBroadcastOverQueriesAndOverKeys) {
  const Tensor q = Tensor::zeros({3, 1}), v = Tensor::of({1, 3, 8}, {3, 1});
  for (const bool plain : {false, true}) {
    const auto output = [&](const PairMask& pairs) {
      return attention(q, q, v, {.mask = {.pairs = pairs}, .plain = plain}).output;
    };
    expect_values(output(PairMask({1, 3}, {1, 1, 0})), {2, 2, 2}, 1e-6f);
    expect_values(output(PairMask({3, 1}, {1, 0, 1})), {4, 0, 4}, 1e-6f);
    expect_values(output(PairMask({1, 1}, {0})), {0, 0, 0}, 0.0f);
  }
}

TEST(Mask, EmptyRangesAreAtZero) {
  const std::vector<kernels::KeyRange> ranges =
      key_ranges({.causal = true}, Packing::of({4}), Packing::of({2}), std::vector<int32_t>{2});
  EXPECT_EQ(ranges[0].begin, 0);
  EXPECT_EQ(ranges[0].end, 0);
  EXPECT_EQ(ranges[2].end, 1);
}

// Pairs allow what neither causality nor the window takes away.
TEST(Mask, PairsCombineWithTheRest) {
  const Packing packing = Packing::of({3, 2});
  std::vector<uint8_t> pairs(2 * 1 * 3 * 3, 1);
  pairs[2 * 3 + 1] = 0;      // sequence 0: query 2 may not see key 1
  pairs[9 + 1 * 3 + 0] = 0;  // sequence 1: query 1 may not see key 0
  AttentionOptions options;
  options.queries = options.keys = packing;
  options.mask = {.causal = true, .left = 1};
  options.mask.pairs = PairMask({2, 1, 3, 3}, pairs);
  const Tensor q = Tensor::zeros({5, 1}), v = Tensor::of({1, 2, 4, 8, 16}, {5, 1});
  for (const bool plain : {false, true}) {
    options.plain = plain;
    expect_values(attention(q, q, v, options).output, {1, 1.5f, 4, 8, 16}, 1e-6f);
  }
}

TEST(Mask, ErrorsNameTheValues) {
  const std::vector<int32_t> counts = all_keys(kKeys);
  const auto ranges = [&](const Mask& mask) { key_ranges(mask, kQueries, kKeys, counts); };
  expect_error<ConfigError>([&] { ranges({.left = -2}); }, "the window's left side is -2");
  expect_error<ConfigError>([&] { ranges({.right = -1}); }, "the window's right side is -1");
  Mask mask{.prefix = {3}};
  expect_error<ConfigError>([&] { ranges(mask); }, "set causal");
  mask = {.causal = true, .prefix = {3, 3}};
  expect_error<ShapeError>([&] { ranges(mask); }, "2 prefixes for 4 sequences");
  mask = {.q_offset = {1, 2, 3}};
  expect_error<ShapeError>([&] { ranges(mask); },
                           "3 query offsets for 4 sequences; give one for each, or one for all");
  mask = {.q_documents = {1}, .k_documents = {1}};
  expect_error<ShapeError>([&] { ranges(mask); },
                           "documents of 1 queries and 1 keys, but there are 19 and 21");
  mask = {.q_documents = documents_of(kQueries, 3), .k_documents = documents_of(kKeys, 2)};
  mask.k_documents[6] = 0;  // after documents 1 and 2
  expect_error<ShapeError>([&] { ranges(mask); }, "the keys of document 0 are not in one run");
  expect_error<ShapeError>(
      [] {
        PairMask({2, 3}, std::vector<uint8_t>(5));
      },
      "a mask of shape [2, 3] needs 6 values, not 5");
  const Tensor x = Tensor::zeros({3, 4});
  AttentionOptions options{.heads = 2};
  options.mask.pairs = PairMask({3, 3, 3}, std::vector<uint8_t>(27));
  expect_error<ShapeError>([&] { attention(x, x, x, options); },
                           "a mask of shape [3, 3, 3] does not fit");
}

}  // namespace
}  // namespace attend
