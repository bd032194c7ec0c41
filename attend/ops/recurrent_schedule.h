// The order in which a recurrent layer walks a packed batch: by time step, the longest sequences
// first, so that the rows of a step whose sequences go on are its first ones. Not for use outside
// Attend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attend/tensor/packing.h"

namespace attend {

// Each sequence has a slot, the longest the first. A time step is one row of each of the first
// slots, those that reach it.
struct RecurrentSchedule {
  struct Step {
    size_t row, rows;  // a run of scheduled rows
  };
  struct Slots {
    size_t begin, end;
  };

  std::vector<Step> steps;
  std::vector<int32_t> sequences;  // (count) the sequence in each slot
  std::vector<int32_t> rows;       // (rows) where each scheduled row lies in the packed batch
  std::vector<int32_t> last;       // (count) the last scheduled row of each slot; -1 if it has none

  explicit RecurrentSchedule(const Packing& packing, bool reverse = false);  // from the ends

  // Whether the scheduled order is the packed order, such as that of sequences of one row.
  bool in_place() const;

  // All slots in at most `count` runs of about the same number of rows.
  std::vector<Slots> parts(size_t count) const;
};

}  // namespace attend
