// The cache of keys and values by itself: what it keeps, in which order, and what it refuses.
#include "attend/attention/cache.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/attention/values.h"

namespace attend {
namespace {

// Rows named by sequence and place, so that it shows where they went.
Tensor rows_named(const Packing& rows, std::vector<int>& next, size_t width) {
  Tensor x = Tensor::empty({rows.rows(), width});
  for (size_t s = 0; s < rows.count(); ++s) {
    for (size_t r = rows.begin(s); r < rows.end(s); ++r) {
      for (size_t c = 0; c < width; ++c) {
        x.data()[r * width + c] = static_cast<float>(1000 * s) + static_cast<float>(next[s]);
      }
      ++next[s];
    }
  }
  return x;
}

std::vector<float> kept(const KeyValueCache& cache, size_t s) {
  const auto length = static_cast<size_t>(cache.lengths()[s]);
  const Tensor keys = cache.keys().slice_rows(s * cache.capacity(), length);
  const Tensor values = cache.values().slice_rows(s * cache.capacity(), length);
  EXPECT_EQ(keys.slice_columns(0, 1).to_vector(), values.slice_columns(0, 1).to_vector());
  return keys.slice_columns(0, 1).to_vector();
}

void append_named(KeyValueCache& cache, const std::vector<int32_t>& lengths,
                  std::vector<int>& next) {
  const Packing rows(lengths);
  std::vector<int> same = next;
  const Tensor k = rows_named(rows, same, 3);
  cache.append(rows, k, rows_named(rows, next, 2));
}

TEST(KeyValueCache, GrowsAndKeepsEverything) {
  KeyValueCache cache(2);
  std::vector<int> next(2, 0);
  for (int step = 0; step < 30; ++step) append_named(cache, {1, step % 3}, next);
  EXPECT_EQ(cache.lengths()[0], 30);
  EXPECT_EQ(cache.lengths()[1], 30);
  EXPECT_EQ(cache.seen()[0], 30);
  for (size_t s = 0; s < 2; ++s) {
    const std::vector<float> rows = kept(cache, s);
    for (size_t i = 0; i < 30; ++i) {
      EXPECT_EQ(rows[i], static_cast<float>(1000 * s) + static_cast<float>(i));
    }
  }
}

TEST(KeyValueCache, RollsAndKeepsTheWindow) {
  const size_t window = 5;
  KeyValueCache cache(2, window);
  std::vector<int> next(2, 0);
  size_t capacity = 0;
  for (int step = 0; step < 60; ++step) {
    append_named(cache, {1, 2}, next);
    if (step == 20) capacity = cache.capacity();
    for (size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(cache.seen()[s], next[s]);
      const std::vector<float> rows = kept(cache, s);
      ASSERT_GE(rows.size(), std::min<size_t>(window, static_cast<size_t>(next[s])));
      for (size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(
            rows[rows.size() - 1 - i],
            static_cast<float>(1000 * s) + static_cast<float>(next[s] - 1) - static_cast<float>(i));
      }
    }
  }
  EXPECT_EQ(cache.capacity(), capacity);  // it does not grow for ever
}

// A prompt is read at once, so that all of it is there; what the window hides goes with the next
// row.
TEST(KeyValueCache, AWindowGivesTheMemoryOfALongPromptBack) {
  const size_t window = 5;
  KeyValueCache cache(2, window);
  std::vector<int> next(2, 0);
  append_named(cache, {1000, 3}, next);
  EXPECT_EQ(cache.capacity(), 1000);
  append_named(cache, {1, 1}, next);
  EXPECT_LE(cache.capacity(), 8 * window);
  EXPECT_EQ(kept(cache, 0),
            (std::vector<float>{991, 992, 993, 994, 995, 996, 997, 998, 999, 1000}));
  EXPECT_EQ(kept(cache, 1), (std::vector<float>{1000, 1001, 1002, 1003}));
  const size_t capacity = cache.capacity();
  for (int step = 0; step < 60; ++step) append_named(cache, {1, 2}, next);
  EXPECT_LE(cache.capacity(), 2 * capacity);
  EXPECT_EQ(kept(cache, 0).back(), 1060);
  EXPECT_EQ(cache.seen()[0], 1061);
}

// Twice the window is more than some types hold.
TEST(KeyValueCache, AWindowMayBeAsLargeAsItsType) {
  for (const size_t window : {(size_t{1} << 30) - 1, size_t{1} << 30, size_t{1} << 31,
                              size_t{1} << 32, (size_t{1} << 63) + 1, SIZE_MAX}) {
    KeyValueCache cache(1, window);
    std::vector<int> next(1, 0);
    for (int step = 0; step < 5; ++step) append_named(cache, {1}, next);
    EXPECT_EQ(kept(cache, 0), (std::vector<float>{0, 1, 2, 3, 4})) << window;
  }
}

TEST(KeyValueCache, AdmitsEmptySequencesAndThoseOfAnother) {
  KeyValueCache cache;
  cache.admit(1);
  std::vector<int> next(1, 0);
  append_named(cache, {2}, next);
  cache.admit(2);
  next.resize(3, 0);
  append_named(cache, {1, 3, 1}, next);
  EXPECT_EQ(kept(cache, 0), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(kept(cache, 1), (std::vector<float>{1000, 1001, 1002}));
  EXPECT_EQ(kept(cache, 2), (std::vector<float>{2000}));

  KeyValueCache long_one(1);
  std::vector<int> more(1, 0);
  append_named(long_one, {40}, more);
  cache.admit(long_one);
  ASSERT_EQ(cache.sequences(), 4u);
  EXPECT_EQ(kept(cache, 1), (std::vector<float>{1000, 1001, 1002}));
  EXPECT_EQ(kept(cache, 3), kept(long_one, 0));
  EXPECT_EQ(cache.seen()[3], 40);

  KeyValueCache narrow(1);
  narrow.append(Packing::of({1}), Tensor::zeros({1, 1}), Tensor::zeros({1, 1}));
  EXPECT_THROW(cache.admit(narrow), ShapeError);
}

TEST(KeyValueCache, RewindsToAnEarlierLength) {
  KeyValueCache cache(2);
  std::vector<int> next(2, 0);
  append_named(cache, {5, 3}, next);
  cache.rewind(std::vector<int32_t>{2, 3});
  EXPECT_EQ(kept(cache, 0), (std::vector<float>{0, 1}));
  EXPECT_EQ(kept(cache, 1), (std::vector<float>{1000, 1001, 1002}));
  next = {2, 3};
  append_named(cache, {1, 1}, next);
  EXPECT_EQ(kept(cache, 0), (std::vector<float>{0, 1, 2}));
  EXPECT_THROW(cache.rewind(std::vector<int32_t>{4, 4}), ShapeError);
  EXPECT_THROW(cache.rewind(std::vector<int32_t>{-1, 4}), ShapeError);
  EXPECT_THROW(cache.rewind(std::vector<int32_t>{1}), ShapeError);
}

// Whatever was dropped meanwhile, the keys that the next query sees are there after rewinding by up
// to a window.
TEST(KeyValueCache, AWindowCanBeRewoundByItsLength) {
  constexpr int32_t kWindow = 4;
  for (int32_t length = 1; length < 40; ++length) {
    for (int32_t back = 0; back <= std::min(kWindow, length); ++back) {
      KeyValueCache cache(1, kWindow);
      std::vector<int> next(1, 0);
      for (int32_t i = 0; i < length; ++i) append_named(cache, {1}, next);
      cache.rewind(std::vector<int32_t>{length - back});
      const std::vector<float> rows = kept(cache, 0);
      const int32_t seen = length - back;
      const auto needed = static_cast<size_t>(std::min(kWindow - 1, seen));
      ASSERT_GE(rows.size(), needed);
      for (size_t i = 0; i < needed; ++i) {
        ASSERT_EQ(rows[rows.size() - 1 - i], static_cast<float>(seen - 1) - static_cast<float>(i));
      }
    }
  }
  KeyValueCache cache(1, kWindow);
  std::vector<int> next(1, 0);
  for (int i = 0; i < 40; ++i) append_named(cache, {1}, next);
  EXPECT_THROW(cache.rewind(std::vector<int32_t>{5}), ShapeError);
}

TEST(KeyValueCache, ReordersToMoreOrFewer) {
  KeyValueCache cache(3);
  std::vector<int> next(3, 0);
  append_named(cache, {2, 0, 4}, next);
  const std::vector<float> last = kept(cache, 2), first = kept(cache, 0);
  cache.reorder(std::vector<size_t>{2, 2, 0, 1});
  EXPECT_EQ(cache.sequences(), 4u);
  EXPECT_EQ(kept(cache, 0), last);
  EXPECT_EQ(kept(cache, 1), last);
  EXPECT_EQ(kept(cache, 2), first);
  EXPECT_TRUE(kept(cache, 3).empty());
  cache.reorder(std::vector<size_t>{2});
  EXPECT_EQ(kept(cache, 0), first);
  EXPECT_EQ(cache.seen()[0], 2);
}

// In their own memory, or in new memory where they go in a circle or there are more.
TEST(KeyValueCache, SequencesMoveInAnyOrder) {
  const std::vector<std::vector<size_t>> orders{{0, 1, 2, 3}, {0, 0, 1, 2}, {1, 2, 3, 3},
                                                {1, 0, 2, 2}, {3, 0, 1, 2}, {2, 1, 1, 0},
                                                {1, 3},       {3},          {3, 3, 3, 3, 0}};
  for (const std::vector<size_t>& parents : orders) {
    KeyValueCache cache(4);
    std::vector<int> next{0, 100, 200, 300};
    append_named(cache, {1, 2, 3, 4}, next);
    std::vector<std::vector<float>> before;
    for (size_t s = 0; s < 4; ++s) before.push_back(kept(cache, s));
    cache.reorder(parents);
    for (size_t s = 0; s < parents.size(); ++s) EXPECT_EQ(kept(cache, s), before[parents[s]]);
    EXPECT_EQ(cache.keys().rows(), parents.size() * cache.capacity());
    std::vector<int> later(parents.size(), 500);
    append_named(cache, std::vector<int32_t>(parents.size(), 1), later);  // twins part
    for (size_t s = 0; s < parents.size(); ++s) {
      EXPECT_EQ(kept(cache, s).back(), 1000.0f * static_cast<float>(s) + 500.0f);
    }
  }
}

// Twins after a reorder, and copies, go their own ways.
TEST(KeyValueCache, CopiesAreIndependent) {
  KeyValueCache cache(1);
  std::vector<int> next(1, 0), other(1, 100);
  append_named(cache, {2}, next);
  KeyValueCache copy = cache;
  append_named(copy, {1}, other);
  append_named(cache, {1}, next);
  EXPECT_EQ(kept(copy, 0), (std::vector<float>{0, 1, 100}));
  EXPECT_EQ(kept(cache, 0), (std::vector<float>{0, 1, 2}));
  copy = cache;
  append_named(copy, {1}, other);
  append_named(cache, {1}, next);
  EXPECT_EQ(kept(copy, 0), (std::vector<float>{0, 1, 2, 101}));
  EXPECT_EQ(kept(cache, 0), (std::vector<float>{0, 1, 2, 3}));
}

TEST(KeyValueCache, ClearStartsAnew) {
  KeyValueCache cache(1, 3);
  std::vector<int> next(1, 0);
  append_named(cache, {7}, next);
  cache.clear();
  EXPECT_EQ(cache.seen()[0], 0);
  append_named(cache, {1}, next);
  EXPECT_EQ(kept(cache, 0), (std::vector<float>{7}));
}

TEST(KeyValueCache, ErrorsNameTheValues) {
  KeyValueCache cache(2);
  const Tensor k = Tensor::zeros({2, 4});
  expect_error<ShapeError>([&] { cache.append(Packing::of({2}), k, k); },
                           "2 rows for 1 sequences, but it holds 2");
  expect_error<ShapeError>([&] { cache.append(Packing::of({1, 2}), k, k); }, "[2, 4]");
  cache.append(Packing::of({1, 1}), k, k);
  expect_error<ShapeError>(
      [&] {
        cache.append(Packing::of({1, 1}), Tensor::zeros({2, 3}), k);
      },
      "keys [2, 3] and values [2, 4] do not fit those of before, 4 and 4");
  expect_error<ShapeError>(
      [&] {
        cache.reorder(std::vector<size_t>{0, 2});
      },
      "there is no sequence 2 among 2");
}

}  // namespace
}  // namespace attend
