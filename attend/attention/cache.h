// The keys and values that a decoder has seen, by sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// Grows as rows are added. With a window it rolls: it keeps the last two windows of keys of each
// sequence, and up to as many before them, which Mask::left hides, so that it can be rewound by a
// window. Memory that a long prompt took beyond that is released by the next append. Memory is
// reserved ahead, so that a step rarely allocates. Not on the tape; not for use by several threads
// at once.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  explicit KeyValueCache(size_t sequences, size_t window = 0);  // 0: everything
  KeyValueCache(const KeyValueCache& other);                    // with memory of its own
  // Copies, with memory of its own.
  KeyValueCache& operator=(const KeyValueCache& other) { return *this = KeyValueCache(other); }
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache&&) = default;
  ~KeyValueCache() = default;

  // How many sequences, and the window; 0: none.
  size_t sequences() const { return lengths_.size(); }
  size_t window() const { return window_; }
  std::span<const int32_t> lengths() const { return lengths_; }  // rows kept
  std::span<const int32_t> seen() const { return seen_; }        // rows ever added

  // Adds the rows of k and v to the sequences, as `rows` divides them; widths must stay the same.
  void append(const Packing& rows, const Tensor& k, const Tensor& v);

  // Tables of all sequences, capacity() rows each; lengths() of them are in use. A bias or a mask
  // of pairs for them has as many columns as the longest of lengths(), or more.
  const Tensor& keys() const { return keys_; }
  const Tensor& values() const { return values_; }
  Packing packing() const { return Packing::even(sequences(), capacity_); }
  size_t capacity() const { return capacity_; }

  // Sequence i becomes what sequence parents[i] was; there may be more or fewer than before.
  void reorder(std::span<const size_t> parents);
  // Appends sequences: empty ones, or all of another cache with their rows.
  void admit(size_t sequences);
  void admit(const KeyValueCache& more);
  // Sequence i keeps only its first seen[i] rows. Throws ShapeError if it has seen fewer, or if the
  // window has dropped rows that are needed again.
  void rewind(std::span<const int32_t> seen);
  void clear();  // removes all rows

  // A layer's bias by distance, [heads, 2 reach + 1], kept here from step to step. It is made again
  // when the capacity grows.
  Tensor distances;

 private:
  void reserve(size_t rows);
  void drop_old();

  size_t window_ = 0, capacity_ = 0;
  std::vector<int32_t> lengths_, seen_;
  Tensor keys_, values_;  // [sequences x capacity, width]
};

}  // namespace attend
