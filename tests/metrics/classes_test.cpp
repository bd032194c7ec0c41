#include "attend/metrics/classes.h"

#include <vector>

#include "attend/metrics/scores.h"
#include "tests/metrics/label_fixtures.h"

namespace attend {
namespace {

Confusion confusion_of(const std::vector<size_t>& gold, const std::vector<size_t>& predicted) {
  Confusion confusion;
  for (size_t i = 0; i < gold.size(); ++i) confusion.add(gold[i], predicted[i]);
  return confusion;
}

void expect_class_score(const ClassScore& score, const nlohmann::json& expected) {
  expect_close(score.precision, expected[0]);
  expect_close(score.recall, expected[1]);
  expect_close(score.f1, expected[2]);
}

TEST(Classes, AgreeWithScikitLearn) {
  size_t compared = 0;
  const nlohmann::json all = label_fixtures();
  for (const nlohmann::json& one : all["labels"]) {
    SCOPED_TRACE(one.dump().substr(0, 200));
    const Confusion confusion = confusion_of(one["gold"], one["predicted"]);
    const std::vector<size_t> labels = one["labels"];
    for (size_t i = 0; i < labels.size(); ++i) {
      const ClassCounts& counts = confusion.classes()[labels[i]];
      expect_class_score(class_score(counts), one["classes"][i]);
      EXPECT_EQ(counts.gold, one["classes"][i][3].get<uint64_t>());
      for (size_t j = 0; j < labels.size(); ++j) {
        EXPECT_EQ(confusion.count(labels[i], labels[j]), one["confusion"][i][j].get<uint64_t>());
      }
    }
    expect_close(accuracy(confusion), one["accuracy"]);
    expect_close(matthews_correlation(confusion), one["matthews"]);
    const auto average = [&](ClassAverage kind) {
      return average_score(confusion.classes(), kind);
    };
    expect_class_score(average(ClassAverage::kMicro), one["micro"]);
    expect_class_score(average(ClassAverage::kMacro), one["macro"]);
    expect_class_score(average(ClassAverage::kWeighted), one["weighted"]);
    ++compared;
  }
  EXPECT_GE(compared, 15u);
}

TEST(Classes, SumOverRecords) {
  const std::vector<size_t> gold = {0, 1, 2, 2, 0, 3}, predicted = {0, 2, 2, 1, 0, 0};
  Confusion sum = confusion_of({0, 1, 2}, {0, 2, 2});
  sum += confusion_of({2, 0, 3}, {1, 0, 0});
  const Confusion all = confusion_of(gold, predicted);
  EXPECT_EQ(sum.records(), 6u);
  EXPECT_EQ(sum.classes().size(), 4u);
  EXPECT_EQ(sum.count(3, 0), 1u);
  EXPECT_EQ(sum.count(0, 3), 0u);
  for (const LabelMetric& metric : label_metrics()) {
    EXPECT_EQ(metric.measure(sum), metric.measure(all)) << metric.name;
  }
}

TEST(Classes, OfNothingAreZero) {
  for (const LabelMetric& metric : label_metrics()) {
    EXPECT_EQ(metric.measure({}), 0) << metric.name;
  }
  const ClassScore score = class_score({});
  EXPECT_EQ(score.precision, 0);
  EXPECT_EQ(score.recall, 0);
  EXPECT_EQ(score.f1, 0);
  EXPECT_EQ(average_score({}, ClassAverage::kMacro).f1, 0);
}

// A class that is never gold has no recall and a class that is never predicted no precision; both
// count in the macro average.
TEST(Classes, WithoutRecordsOnOneSideCountAsZero) {
  const Confusion confusion = confusion_of({0, 0, 0, 0}, {0, 0, 0, 1});
  EXPECT_EQ(average_score(confusion.classes(), ClassAverage::kMacro).precision, 50);
  EXPECT_EQ(average_score(confusion.classes(), ClassAverage::kMacro).recall, 37.5);
  EXPECT_EQ(average_score(confusion.classes(), ClassAverage::kWeighted).recall, 75);
}

TEST(Classes, MatthewsOfManyRecordsKeepsItsDigits) {
  Confusion confusion;
  confusion.add(0, 0, 4'000'000'000);
  confusion.add(0, 1, 1'000'000'000);
  confusion.add(1, 0, 1'000'000'000);
  confusion.add(1, 1, 4'000'000'000);
  EXPECT_NEAR(matthews_correlation(confusion), 0.6, 1e-12);
}

}  // namespace
}  // namespace attend
