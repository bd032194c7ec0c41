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
  // The sum of values[i] over all i of the same id, in order; each id is below `table_rows`. The
  // values must stay as they are while the sums are read: a row that occurs once is not copied.
  void add_up(std::span<const int32_t> ids, Rows values, size_t table_rows);
  // The same with factors[i] values[sources[i]] in place of values[i].
  void add_up(std::span<const int32_t> ids, std::span<const float> factors,
              std::span<const int32_t> sources, Rows values, size_t table_rows);

  size_t count() const { return rows_.size(); }          // rows that occur
  size_t row(size_t i) const { return rows_[i]; }        // of the table
  const float* sum(size_t i) const { return sums_[i]; }  // its sum

 private:
  // The rows that one thread adds up.
  struct Part {
    std::vector<uint32_t> occurrences;  // places of its ids
    std::vector<uint32_t> rows;
    std::vector<uint32_t> places;  // of each row: in `values`, or in `sums` from kSummed on
    std::vector<float> sums;
    size_t used = 0;  // rows of `sums`

    float* new_sum(size_t width);
  };

  // add(part, known, i) adds row i to the one that the part knows; first(part, i) is where a new
  // one lies.
  template <typename First, typename Add>
  void add_up_parts(std::span<const int32_t> ids, Rows values, size_t table_rows,
                    const First& first, const Add& add);

  std::vector<uint32_t> rows_;
  std::vector<const float*> sums_;
  std::vector<Part> parts_;
  // Where in its part a row of the table stands, if it does: the part tells.
  std::vector<uint32_t> known_;
};

}  // namespace attend::kernels
