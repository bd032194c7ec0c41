#include "attend/attention/unread_rows.h"

#include <algorithm>

#include "attend/ops/elementwise.h"

namespace attend {

// What takes least is asked first: a table of pairs is longer than the rows, ranges are shorter.
Tensor UnreadRows::clear(const Tensor& x, const Read& read) {
  if (problem_.options.mask.pairs.defined() && all_finite(x)) return x;
  find();
  // The wrong number of rows is an error of the op that comes next.
  if (x.rows() != read.size() || std::ranges::find(read, false) == read.end()) return x;
  if (all_finite(x)) return x;
  const Tensor mask = Tensor::empty(x.shape(), DType::kInt32);
  for (size_t row = 0; row < read.size(); ++row) {
    std::fill_n(mask.indices() + row * x.width(), x.width(), read[row] ? 1 : 0);
  }
  return where(mask, x, Tensor::zeros(x.shape()));
}

void UnreadRows::find() {
  if (found_) return;
  found_ = true;
  queries_.assign(problem_.queries.rows(), false);
  keys_.assign(problem_.keys.rows(), false);
  for (size_t s = 0; s < problem_.queries.count(); ++s) {
    if (problem_.options.mask.pairs.defined()) {
      find_in_pairs(s);
    } else {
      find_in_ranges(s);
    }
  }
}

// Neighbours mostly see nearly the same keys, so that few are marked twice.
void UnreadRows::find_in_ranges(size_t sequence) {
  const size_t first = problem_.keys.begin(sequence);
  size_t begin = 0, end = 0;  // keys that the queries before have marked
  for (size_t row = problem_.queries.begin(sequence); row < problem_.queries.end(sequence); ++row) {
    const auto range = problem_.ranges[row];
    const auto from = static_cast<size_t>(range.begin), to = static_cast<size_t>(range.end);
    queries_[row] = from < to;
    if (from >= to || (from >= begin && to <= end)) continue;
    const bool touches = from >= begin && from <= end;
    for (size_t key = touches ? end : from; key < to; ++key) keys_[first + key] = true;
    if (!touches) begin = from;
    end = to;
  }
}

void UnreadRows::find_in_pairs(size_t sequence) {
  const AttentionProblem& p = problem_;
  const PairMask& mask = p.options.mask.pairs;
  const PairSteps steps = p.steps_of(mask.shape(), "mask");
  for (size_t h = 0; h < (steps.head == 0 ? 1 : p.heads); ++h) {
    for (size_t i = 0; i < p.queries.length(sequence); ++i) {
      const size_t row = p.queries.begin(sequence) + i;
      const uint8_t* pairs =
          mask.data() + sequence * steps.sequence + h * steps.head + i * steps.query;
      for (int32_t key = p.ranges[row].begin; key < p.ranges[row].end; ++key) {
        if (pairs[key] == 0) continue;
        queries_[row] = keys_[p.keys.begin(sequence) + static_cast<size_t>(key)] = true;
      }
    }
  }
}

}  // namespace attend
