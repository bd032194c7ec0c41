// Positional encodings: added to the rows of a packed batch, or concatenated. Positions start at 0
// in each sequence.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/tensor/packing.h"

namespace attend {

// How positions and rows are combined.
enum class PositionMode {
  kAdd,     // x [rows, width] + positions [rows, width]
  kConcat,  // [rows, x's width + width]
};

std::string_view name_of(PositionMode mode);

struct PositionsConfig {
  size_t width = 0;
  size_t max_length = 1024;
  PositionMode mode = PositionMode::kAdd;
};

// Sinusoids (Vaswani et al., 2017): column 2 i is sin(p / 10000^(2 i / width)), column 2 i + 1 the
// cosine of the same. Rows are computed when a sequence first reaches them, and kept; max_length is
// not used. May be called from several threads at once.
struct SinusoidalPositions {
  PositionsConfig config;

  SinusoidalPositions() = default;
  explicit SinusoidalPositions(const PositionsConfig& config);

  // `first` has the position of the first row of each sequence, for the steps of a decoder; empty:
  // 0 for all.
  Tensor operator()(const Tensor& x, const Packing& packing,
                    std::span<const int32_t> first = {}) const;

  void visit(Visitor&) {}  // it has no parameters

 private:
  // Shared by all copies and threads.
  struct Table {
    std::mutex mutex;
    Tensor rows;  // [those reached so far, and some more, width]
  };
  Tensor first_rows(size_t count) const;  // at least this many

  std::shared_ptr<Table> table_;
};

// The first rows of that table, [length, width].
Tensor sinusoids(size_t length, size_t width);

// A learned vector for each position (Gehring et al., 2017).
struct LearnedPositions {
  PositionsConfig config;
  Tensor weight;  // [max_length, width]

  LearnedPositions() = default;
  LearnedPositions(const PositionsConfig& config, Rng& rng, float deviation = 0.02f);

  // x [rows, width]. Throws ShapeError if a sequence reaches past max_length.
  Tensor operator()(const Tensor& x, const Packing& packing,
                    std::span<const int32_t> first = {}) const;

  void visit(Visitor& v) { v("weight", weight); }
};

}  // namespace attend
