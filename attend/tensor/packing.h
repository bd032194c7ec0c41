// Where each sequence of a packed batch lies: a batch is one [rows, width] tensor, sequence after
// sequence, without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace attend {

// Sequence i is the rows [begin(i), end(i)). Copies share one immutable table.
class Packing {
 public:
  Packing() : Packing(std::vector<int32_t>{}) {}
  explicit Packing(const std::vector<int32_t>& lengths);  // throws DataError for a negative length
  static Packing of(std::initializer_list<int32_t> lengths) {
    return Packing(std::vector(lengths));
  }
  static Packing even(size_t count, size_t length);  // `count` sequences of one length

  size_t count() const { return offsets_->size() - 1; }
  size_t rows() const { return static_cast<size_t>(offsets_->back()); }
  size_t begin(size_t i) const { return static_cast<size_t>((*offsets_)[i]); }
  size_t end(size_t i) const { return begin(i + 1); }
  size_t length(size_t i) const { return end(i) - begin(i); }
  size_t longest() const;
  std::vector<int32_t> lengths() const;
  Packing pick(std::span<const size_t> sequences) const;          // of these, in that order
  Packing followed_by(const Packing& more) const;                 // of both, one after the other
  std::span<const int32_t> offsets() const { return *offsets_; }  // count() + 1 of them

  bool operator==(const Packing& other) const { return *offsets_ == *other.offsets_; }

 private:
  std::shared_ptr<const std::vector<int32_t>> offsets_;
};

}  // namespace attend
