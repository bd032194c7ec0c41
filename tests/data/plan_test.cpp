#include "attend/data/plan.h"

#include <algorithm>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/fields.h"
#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/data/line_records.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;
struct PairLengths {
  uint32_t source, target;
};
using Lengths = std::vector<PairLengths>;

// As a corpus of pairs gives them; `lengths` must outlive it.
RecordLengths table(const Lengths& lengths) {
  static_assert(sizeof(PairLengths) == 2 * sizeof(uint32_t));
  if (lengths.empty()) return {{}, {{}, {}}};
  return {{&lengths.front().source, 2 * lengths.size()}, {{}, {}}};
}

Lengths random_lengths(size_t count) {
  const RandomStream random(2, 0);
  Lengths lengths;
  for (uint64_t i = 0; i < count; ++i) {
    const auto source = static_cast<uint32_t>(1 + random.below(2 * i, 40));
    lengths.push_back({source, static_cast<uint32_t>(source + random.below(2 * i + 1, 8))});
  }
  return lengths;
}

BatchPlan plan_of(const Lengths& lengths, const BatchConfig& config, uint64_t epoch,
                  size_t shards = 1) {
  return {table(lengths), config, epoch, shards};
}

std::vector<std::vector<uint32_t>> batches_of(const BatchPlan& plan) {
  std::vector<std::vector<uint32_t>> batches;
  for (size_t i = 0; i < plan.size(); ++i) batches.emplace_back(plan[i].begin(), plan[i].end());
  return batches;
}

size_t rows(const Lengths& lengths, std::span<const uint32_t> batch) {
  size_t rows = 0;
  for (const uint32_t i : batch) rows += lengths[i].source + lengths[i].target + 2;
  return rows;
}

TEST(BatchPlan, EveryRecordOnceAnEpochWithinTheBudget) {
  for (const size_t count : {0, 1, 2, 500, 5000}) {
    const auto lengths = random_lengths(count);
    for (const bool shuffle : {true, false}) {
      for (const size_t limit : {0, 7}) {
        const BatchConfig config{.tokens = 1000, .records = limit, .shuffle = shuffle};
        std::vector<int> seen(count);
        for (const auto& batch : batches_of(plan_of(lengths, config, 3))) {
          EXPECT_FALSE(batch.empty());
          EXPECT_LE(rows(lengths, batch), 1000u);
          EXPECT_LE(batch.size(), limit > 0 ? limit : count);
          for (const uint32_t i : batch) ++seen[i];
        }
        EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<ptrdiff_t>(count));
      }
    }
  }
}

// 300 records: the first 100 in one part, then 50, then 150.
RecordLengths weighted(const Lengths& lengths, double first, double second, double third) {
  RecordLengths made = table(lengths);
  made.parts = {{100, first}, {150, second}, {300, third}};
  return made;
}

std::vector<int> times(std::span<const uint32_t> records, size_t count) {
  std::vector<int> seen(count);
  for (const uint32_t record : records) ++seen[record];
  return seen;
}

TEST(RecordsOfEpoch, AWholeWeightIsHowOftenARecordComes) {
  const auto lengths = random_lengths(300);
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto seen = times(records_of_epoch(weighted(lengths, 1, 3, 2), 1, epoch), 300);
    for (size_t i = 0; i < 300; ++i) EXPECT_EQ(seen[i], i < 100 ? 1 : i < 150 ? 3 : 2) << i;
  }
}

TEST(RecordsOfEpoch, AFractionComesInTurnSoThatAllComeEquallyOften) {
  const auto lengths = random_lengths(300);
  const RecordLengths parts = weighted(lengths, 0.25, 1.5, 1);
  std::vector<int> all(300);
  std::vector<std::vector<uint32_t>> epochs;
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    epochs.push_back(records_of_epoch(parts, 1, epoch));
    EXPECT_EQ(epochs.back().size(), 25u + 75u + 150u);
    const auto seen = times(epochs.back(), 300);
    for (size_t i = 0; i < 300; ++i) {
      EXPECT_LE(seen[i], i < 100 ? 1 : i < 150 ? 2 : 1) << i;
      EXPECT_GE(seen[i], i < 100 ? 0 : 1) << i;
      all[i] += seen[i];
    }
  }
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(all[i], i < 100 ? 1 : i < 150 ? 6 : 4) << i;
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_EQ(records_of_epoch(parts, 1, 2), epochs[2]);
  EXPECT_NE(records_of_epoch(parts, 2, 2), epochs[2]);
}

TEST(BatchPlan, WeightsOfOneChangeNothing) {
  const auto lengths = random_lengths(300);
  for (const bool shuffle : {true, false}) {
    const BatchConfig config{.tokens = 500, .shuffle = shuffle};
    EXPECT_EQ(batches_of({weighted(lengths, 1, 1, 1), config, 2}),
              batches_of(plan_of(lengths, config, 2)));
  }
}

TEST(BatchPlan, HasTheRecordsOfAnEpochWithinTheBudget) {
  const auto lengths = random_lengths(300);
  const RecordLengths parts = weighted(lengths, 2.5, 1, 0.5);
  std::vector<uint32_t> found;
  for (const auto& batch : batches_of({parts, {.tokens = 500}, 7})) {
    EXPECT_LE(rows(lengths, batch), 500u);
    found.insert(found.end(), batch.begin(), batch.end());
  }
  EXPECT_EQ(times(found, 300), times(records_of_epoch(parts, BatchConfig().seed, 7), 300));
  double mean = 0;
  for (size_t i = 0; i < 300; ++i) mean += parts.weight(i) * static_cast<double>(parts.rows(i));
  EXPECT_DOUBLE_EQ(parts.rows_of_epoch(), mean);
}

TEST(BatchPlan, TooManyRecordsOfAnEpochAreAnError) {
  const auto lengths = random_lengths(300);
  expect_error<DataError>([&] { records_of_epoch(weighted(lengths, 1, 1, 1e9), 1, 0); },
                          "there can be 4294967295 at most");
}

TEST(BatchPlan, BudgetsAreUsed) {
  const auto lengths = random_lengths(5000);
  size_t total = 0;
  for (const PairLengths& length : lengths) total += length.source + length.target + 2;
  EXPECT_LE(plan_of(lengths, {.tokens = 1000}, 0).size(), total / 1000 * 11 / 10);
}

TEST(BatchPlan, ARecordLargerThanTheBudgetIsABatchOfItsOwn) {
  const Lengths lengths = {{5, 5}, {500, 500}, {5, 6}, {600, 1}};
  auto batches = batches_of(plan_of(lengths, {.tokens = 100}, 0));
  std::sort(batches.begin(), batches.end(),
            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[2].size(), 2u);
}

TEST(BatchPlan, LengthsInABatchAreAlike) {
  const auto lengths = random_lengths(20'000);
  for (const auto& batch : batches_of(plan_of(lengths, {.tokens = 2000}, 1))) {
    const auto [low, high] = std::minmax_element(
        batch.begin(), batch.end(),
        [&](uint32_t a, uint32_t b) { return lengths[a].source < lengths[b].source; });
    EXPECT_LE(lengths[*high].source - lengths[*low].source, 2u + lengths[*high].source / 8);
    const auto [least, most] = std::minmax_element(
        batch.begin(), batch.end(),
        [&](uint32_t a, uint32_t b) { return lengths[a].target < lengths[b].target; });
    EXPECT_LE(lengths[*most].target - lengths[*least].target, 8u);
  }
}

TEST(BatchPlan, LengthsChangeStepByStep) {
  Lengths lengths;
  for (uint32_t target = 1; target <= 20; ++target) {
    for (uint32_t source = 1; source <= 20; ++source) lengths.push_back({source, target});
  }
  std::vector<uint32_t> order;
  for (const auto& batch : batches_of(plan_of(lengths, {.tokens = 100, .shuffle = false}, 0))) {
    order.insert(order.end(), batch.begin(), batch.end());
  }
  for (size_t i = 1; i < order.size(); ++i) {
    const PairLengths before = lengths[order[i - 1]], now = lengths[order[i]];
    const auto step = [](uint32_t a, uint32_t b) { return a < b ? b - a : a - b; };
    EXPECT_EQ(step(before.source, now.source) + step(before.target, now.target), 1u) << i;
  }
}

TEST(BatchPlan, FollowsFromSeedAndEpochAlone) {
  const auto lengths = random_lengths(3000);
  const auto plan = [&](uint64_t seed, uint64_t epoch) {
    return batches_of(plan_of(lengths, {.tokens = 500, .seed = seed}, epoch));
  };
  const auto first = plan(1, 0);
  for (const int threads : {1, 3}) {
    const ThreadCountScope scope(threads);
    EXPECT_EQ(plan(1, 0), first);
  }
  for (const auto& other : {plan(1, 1), plan(2, 0)}) {
    EXPECT_NE(other, first);
    EXPECT_EQ(other.size(), first.size()) << "as many batches in every epoch";
    auto a = first, b = other;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_NE(a, b) << "other batches, not only another order";
  }
  // Made by this code: what a resumed run relies on does not change with the program.
  const Lengths equal(10, {4, 4});
  const std::vector<std::vector<uint32_t>> golden = {{2, 6, 5}, {1}, {9, 3, 8}, {0, 7, 4}};
  EXPECT_EQ(batches_of(plan_of(equal, {.tokens = 30}, 0)), golden);
}

TEST(BatchPlan, ConfigListsItsFields) {
  BatchConfig config;
  EXPECT_EQ(fields_of(config).fields.size(), 4u);
}

TEST(BatchPlan, NoBudgetIsRefused) {
  EXPECT_THROW(plan_of(random_lengths(3), {.tokens = 0}, 0), ConfigError);
}

TEST(BatchPlan, ShardsDivideTheBudgetOfAnUpdate) {
  const Lengths lengths = random_lengths(2000);
  EXPECT_EQ(batches_of(plan_of(lengths, {.tokens = 4000}, 2, 4)),
            batches_of(plan_of(lengths, {.tokens = 1000}, 2)));
  EXPECT_EQ(batches_of(plan_of(lengths, {.tokens = 4000, .records = 12}, 2, 4)),
            batches_of(plan_of(lengths, {.tokens = 1000, .records = 3}, 2)));
  EXPECT_EQ(plan_of(lengths, {.tokens = 2}, 0, 8).size(), lengths.size());
}

TEST(BatchPlan, ColumnsThatAreNoSequencesDoNotCount) {
  const uint32_t texts[] = {4, 1, 9, 1, 4, 1, 2, 1};
  const RecordLengths labelled{texts, {{}, {.sequence = false}}};
  EXPECT_EQ(labelled.size(), 4u);
  EXPECT_EQ(labelled.rows(1), 10u);
  EXPECT_EQ(batches_of(BatchPlan(labelled, {.tokens = 10, .shuffle = false}, 0)),
            (std::vector<std::vector<uint32_t>>{{3, 0}, {2}, {1}}));
  const uint32_t windows[] = {5, 5, 1};
  const RecordLengths framed{windows, {{.extra = -1}}};
  EXPECT_EQ(framed.rows(0), 4u);
  EXPECT_EQ(framed.rows(2), 0u);
}

class BatchStreamTest : public DataFiles {
 protected:
  // Line i has its own letters, so that a batch tells which lines it holds.
  Corpus corpus() const {
    std::string source, target;
    for (int i = 0; i < 200; ++i) {
      source += std::string(1 + i % 9, static_cast<char>('0' + i % 70)) + "\n";
      target += std::string(1 + i % 11, static_cast<char>('0' + i % 70)) + "\n";
    }
    const TextEncoder encoder{[](std::string_view line) { return Ids(line.begin(), line.end()); },
                              128, 0};
    return open_corpus(LineRecords({{{"source", write("source", source)}, encoder},
                                    {{"target", write("target", target)}, encoder}}),
                       directory_ / "corpus");
  }
};

TEST_F(BatchStreamTest, BatchesHoldTheLinesTheyName) {
  const Corpus data = corpus();
  BatchStream stream(data, {.tokens = 200});
  for (size_t i = 0; i < 2 * stream.batches_per_epoch(); ++i) {
    const Batch batch = stream.next();
    EXPECT_LE(batch.rows() + 2 * batch.size(), 200u);
    const Tokens sources = batch.tokens("source"), targets = batch.tokens("target");
    for (size_t s = 0; s < batch.size(); ++s) {
      const size_t line = batch.lines[s] - 1;
      const auto letter = static_cast<int32_t>('0' + line % 70);
      const auto source = sources.sequence(s), target = targets.sequence(s);
      ASSERT_EQ(Ids(source.begin(), source.end()), Ids(1 + line % 9, letter));
      ASSERT_EQ(Ids(target.begin(), target.end()), Ids(1 + line % 11, letter));
    }
  }
}

TEST_F(BatchStreamTest, ResumesAnywhere) {
  const Corpus data = corpus();
  const BatchConfig config{.tokens = 200, .seed = 9};
  BatchStream stream(data, config);
  std::vector<DataPosition> positions;
  std::vector<std::vector<size_t>> lines;
  for (size_t i = 0; i < 3 * stream.batches_per_epoch(); ++i) {
    positions.push_back(stream.position());
    lines.push_back(stream.next().lines);
  }
  EXPECT_EQ(stream.position(), (DataPosition{3, 0}));
  for (size_t i = 0; i < positions.size(); ++i) {
    BatchStream resumed(data, config, positions[i]);
    for (size_t j = i; j < std::min(i + 3, lines.size()); ++j) {
      EXPECT_EQ(resumed.next().lines, lines[j]);
    }
  }
  EXPECT_THROW(BatchStream(data, config, {0, stream.batches_per_epoch()}), DataError);
}

}  // namespace
}  // namespace attend
