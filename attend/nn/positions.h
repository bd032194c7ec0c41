// Where in its sequence a row stands, told to a model that cannot know: positions added to the rows
// of a packed batch, or put beside them. They start again at each sequence.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/tensor/packing.h"

namespace attend {

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

// Waves of growing length (Vaswani et al., 2017): column 2 i is sin(p / 10000^(2 i / width)),
// column 2 i + 1 the cosine of the same. They are computed when a sequence first reaches them, and
// kept; max_length has no say.
struct SinusoidalPositions {
  PositionsConfig config;

  SinusoidalPositions() = default;
  explicit SinusoidalPositions(const PositionsConfig& config);

  // `first` is the position of the first row of each sequence, 0 where it is empty: how far a
  // decoder has come with each.
  Tensor operator()(const Tensor& x, const Packing& packing,
                    std::span<const int32_t> first = {}) const;

  void visit(Visitor&) {}  // nothing is learned, and the table need not be saved

 private:
  // Used by several threads, and by all copies.
  struct Table {
    std::mutex mutex;
    Tensor rows;  // [those reached and some more, width]
  };
  Tensor first_rows(size_t count) const;  // at least so many

  std::shared_ptr<Table> table_;
};

// The table [length, width] of the above.
Tensor sinusoids(size_t length, size_t width);

// A row of a table for each position (Gehring et al., 2017).
struct LearnedPositions {
  PositionsConfig config;
  Tensor weight;  // [max_length, width]

  LearnedPositions() = default;
  LearnedPositions(const PositionsConfig& config, Rng& rng, float deviation = 0.02f);

  // Throws ShapeError where a sequence reaches past max_length.
  Tensor operator()(const Tensor& x, const Packing& packing,
                    std::span<const int32_t> first = {}) const;

  void visit(Visitor& v) { v("weight", weight); }
};

}  // namespace attend
