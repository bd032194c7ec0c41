#include "attend/metrics/classes.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

double ratio_or_zero(double part, double whole) { return whole == 0 ? 0 : part / whole; }

}  // namespace

ClassCounts& ClassCounts::operator+=(const ClassCounts& other) {
  gold += other.gold;
  predicted += other.predicted;
  correct += other.correct;
  return *this;
}

ClassScore class_score(const ClassCounts& counts) {
  const double correct = 100 * static_cast<double>(counts.correct),
               gold = static_cast<double>(counts.gold),
               predicted = static_cast<double>(counts.predicted);
  return {ratio_or_zero(correct, predicted), ratio_or_zero(correct, gold),
          ratio_or_zero(2 * correct, gold + predicted)};
}

ClassScore average_score(std::span<const ClassCounts> classes, ClassAverage average) {
  ClassCounts all;
  for (const ClassCounts& one : classes) all += one;
  if (average == ClassAverage::kMicro) return class_score(all);
  ClassScore sum;
  double weights = 0;
  for (const ClassCounts& one : classes) {
    if (one.gold + one.predicted == 0) continue;
    const double weight = average == ClassAverage::kWeighted ? static_cast<double>(one.gold) : 1.0;
    const ClassScore score = class_score(one);
    sum.precision += weight * score.precision;
    sum.recall += weight * score.recall;
    sum.f1 += weight * score.f1;
    weights += weight;
  }
  return {ratio_or_zero(sum.precision, weights), ratio_or_zero(sum.recall, weights),
          ratio_or_zero(sum.f1, weights)};
}

void Confusion::add(size_t gold, size_t predicted, uint64_t records) {
  if (const size_t labels = std::max(gold, predicted) + 1; labels > classes_.size()) {
    classes_.resize(labels);
  }
  cells_[{gold, predicted}] += records;
  classes_[gold].gold += records;
  classes_[predicted].predicted += records;
  records_ += records;
  if (gold != predicted) return;
  classes_[gold].correct += records;
  correct_ += records;
}

Confusion& Confusion::operator+=(const Confusion& other) {
  for (const auto& [labels, records] : other.cells_) add(labels.first, labels.second, records);
  return *this;
}

uint64_t Confusion::count(size_t gold, size_t predicted) const {
  const auto found = cells_.find({gold, predicted});
  return found == cells_.end() ? 0 : found->second;
}

double accuracy(const Confusion& confusion) {
  return ratio_or_zero(100 * static_cast<double>(confusion.correct()),
                       static_cast<double>(confusion.records()));
}

double matthews_correlation(const Confusion& confusion) {
  double gold_predicted = 0, gold_gold = 0, predicted_predicted = 0;
  for (const ClassCounts& one : confusion.classes()) {
    const double gold = static_cast<double>(one.gold),
                 predicted = static_cast<double>(one.predicted);
    gold_predicted += gold * predicted;
    gold_gold += gold * gold;
    predicted_predicted += predicted * predicted;
  }
  const double records = static_cast<double>(confusion.records()),
               correct = static_cast<double>(confusion.correct());
  return ratio_or_zero(
      correct * records - gold_predicted,
      std::sqrt((records * records - gold_gold) * (records * records - predicted_predicted)));
}

}  // namespace attend
