// Where each sequence of a packed batch lies. A packed batch is one [rows, width] tensor: one
// sequence after another, without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace attend {

// Sequence i has the rows [begin(i), end(i)). Immutable; copies share one table and are cheap.
class Packing {
 public:
  Packing() : Packing(std::vector<int32_t>{}) {}
  explicit Packing(const std::vector<int32_t>& lengths);  // throws DataError for a negative length
  // Sequences of these lengths.
  static Packing of(std::initializer_list<int32_t> lengths) {
    return Packing(std::vector(lengths));
  }
  static Packing even(size_t count, size_t length);  // `count` sequences of one length

  size_t count() const { return offsets_->size() - 1; }                  // sequences
  size_t rows() const { return static_cast<size_t>(offsets_->back()); }  // of all sequences
  // The first row of sequence i, the row after its last, and how many it has.
  size_t begin(size_t i) const { return static_cast<size_t>((*offsets_)[i]); }
  size_t end(size_t i) const { return begin(i + 1); }
  size_t length(size_t i) const { return end(i) - begin(i); }
  size_t longest() const;                // rows of the longest sequence; 0 if there is none
  std::vector<int32_t> lengths() const;  // rows of each sequence
  Packing pick(std::span<const size_t> sequences) const;  // of these sequences, in that order
  Packing followed_by(const Packing& more) const;         // of both, one after the other
  std::span<const int32_t> offsets() const { return *offsets_; }  // count() + 1 of them

  // Whether all lengths are the same.
  bool operator==(const Packing& other) const { return *offsets_ == *other.offsets_; }

 private:
  std::shared_ptr<const std::vector<int32_t>> offsets_;
};

}  // namespace attend
