// How well labels were predicted: accuracy, precision, recall, F1 and Matthews correlation, as
// scikit-learn computes them. Where one would divide by zero, the result is 0.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace attend {

// Counts of one class: records with a label, or spans of a type. They can be summed.
struct ClassCounts {
  uint64_t gold = 0;       // that belong to it (its support)
  uint64_t predicted = 0;  // that were predicted to
  uint64_t correct = 0;    // both

  // Adds the counts of other records.
  ClassCounts& operator+=(const ClassCounts& other);
};

// In percent.
struct ClassScore {
  double precision = 0, recall = 0, f1 = 0;
};
ClassScore class_score(const ClassCounts& counts);

// How the scores of classes become one.
enum class ClassAverage {
  kMicro,     // the score of the summed counts
  kMacro,     // the mean over the classes
  kWeighted,  // the mean weighted by how many records belong to each
};

// Over the classes that occur, as gold or as predicted ones; the others are not counted.
ClassScore average_score(std::span<const ClassCounts> classes, ClassAverage average);

// How often each label was predicted for each gold label: the confusion matrix, which stores only
// the pairs that occur. Labels are numbers, best from 0 without gaps.
class Confusion {
 public:
  // Counts records of label `gold` for which `predicted` was predicted.
  void add(size_t gold, size_t predicted, uint64_t records = 1);
  // Adds the counts of other records.
  Confusion& operator+=(const Confusion& other);

  uint64_t records() const { return records_; }
  uint64_t correct() const { return correct_; }
  // How many records of label `gold` were predicted to have label `predicted`.
  uint64_t count(size_t gold, size_t predicted) const;
  // The pairs of gold and predicted labels that occur, with their records.
  const std::map<std::pair<size_t, size_t>, uint64_t>& cells() const { return cells_; }
  // By label, up to the largest that occurred.
  std::span<const ClassCounts> classes() const { return classes_; }

 private:
  std::map<std::pair<size_t, size_t>, uint64_t> cells_;
  std::vector<ClassCounts> classes_;
  uint64_t records_ = 0, correct_ = 0;
};

// Records whose label was predicted, in percent.
double accuracy(const Confusion& confusion);

// The correlation of gold and predicted labels, -1 to 1, of two classes (Matthews, 1975) or more
// (Gorodkin, 2004). 0 where all gold, or all predicted, labels are the same.
double matthews_correlation(const Confusion& confusion);

}  // namespace attend
