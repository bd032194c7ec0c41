#include "attend/kernels/row_sums.h"

#include <map>

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

std::vector<int32_t> repeating_ids(size_t count, size_t table) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(i * i * 31 % table));
  return ids;
}

TEST(RowSums, AddsUpTheRowsOfEachId) {
  for_each_target([] {
    RowSums sums;  // used again, as in training
    for (const auto& [count, table] :
         {std::pair<size_t, size_t>{0, 4}, {1, 1}, {50, 7}, {3000, 900}}) {
      const std::vector<int32_t> ids = repeating_ids(count, table);
      TestRows values(count, 13, count);
      std::map<size_t, std::vector<float>> expected;
      for (size_t i = 0; i < count; ++i) {
        auto& row = expected[static_cast<size_t>(ids[i])];
        row.resize(13);
        for (size_t k = 0; k < 13; ++k) row[k] += values(i, k);
      }
      sums.add_up(ids, values, table);
      ASSERT_EQ(sums.count(), expected.size());
      for (size_t i = 0; i < sums.count(); ++i) {
        const auto found = expected.find(sums.row(i));
        ASSERT_NE(found, expected.end());
        EXPECT_EQ(std::vector<float>(sums.sum(i), sums.sum(i) + 13), found->second);
        expected.erase(found);
      }
      EXPECT_TRUE(values.frame_is_intact());
    }
  });
}

TEST(RowSums, TakeFactorsOfSharedRows) {
  for_each_target([] {
    RowSums sums;
    for (const auto& [count, table] : {std::pair<size_t, size_t>{1, 4}, {50, 7}, {3000, 900}}) {
      const std::vector<int32_t> ids = repeating_ids(count, table);
      const TestRows values(20, 13, count);
      std::vector<float> factors;
      std::vector<int32_t> sources;
      std::map<size_t, std::vector<double>> expected;
      for (size_t i = 0; i < count; ++i) {
        factors.push_back(static_cast<float>(i % 11) - 5.0f);
        sources.push_back(static_cast<int32_t>(i * 7 % 20));
        auto& row = expected[static_cast<size_t>(ids[i])];
        row.resize(13);
        for (size_t k = 0; k < 13; ++k) {
          row[k] += double{factors[i]} * double{values(static_cast<size_t>(sources[i]), k)};
        }
      }
      sums.add_up(ids, factors, sources, values, table);
      ASSERT_EQ(sums.count(), expected.size());
      for (size_t i = 0; i < sums.count(); ++i) {
        const auto found = expected.find(sums.row(i));
        ASSERT_NE(found, expected.end());
        for (size_t k = 0; k < 13; ++k) EXPECT_NEAR(sums.sum(i)[k], found->second[k], 1e-4);
        expected.erase(found);
      }
    }
  });
}

TEST(RowSums, HaveTheSameBitsAndOrderOnAnyThreads) {
  const std::vector<int32_t> ids = repeating_ids(5000, 300);
  expect_same_bits_on_any_threads([&] {
    TestRows values(ids.size(), 9, 3);
    RowSums sums;
    sums.add_up(ids, values, 300);
    std::vector<float> all;
    for (size_t i = 0; i < sums.count(); ++i) {
      all.push_back(static_cast<float>(sums.row(i)));
      all.insert(all.end(), sums.sum(i), sums.sum(i) + 9);
    }
    return all;
  });
}

}  // namespace
}  // namespace attend::kernels
