// Rows of a table that occur, some of them several times, added up row by row: what a sparse
// gradient needs before it can be measured and applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attend/kernels/rows.h"

namespace attend::kernels {

// The rows of a table that occur, each once. Their order depends on the ids alone. Memory is kept
// from call to call.
class RowSums {
 public:
  // Adds values[i] to the first values[j] with ids[j] == ids[i], for each i, in order; each id is
  // below `table_rows`.
  void add_up(std::span<const int32_t> ids, MutableRows values, size_t table_rows);

  size_t count() const { return rows_.size(); }                         // rows that occur
  size_t row(size_t i) const { return rows_[i]; }                       // of the table
  const float* sum(size_t i) const { return values_.row(places_[i]); }  // its sum

 private:
  struct Part {
    std::vector<uint32_t> rows, places;
  };

  MutableRows values_{};
  std::vector<uint32_t> rows_, places_;
  std::vector<Part> parts_;
  // Where in its part a row of the table stands, if it does: the part tells.
  std::vector<uint32_t> known_;
};

}  // namespace attend::kernels
