#include "attend/nn/positions.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/shape.h"

namespace attend {
namespace {

constexpr Named<PositionMode> kModes[] = {
    {PositionMode::kAdd, "add"},
    {PositionMode::kConcat, "concat"},
};

using Firsts = std::span<const int32_t>;

int32_t first_of(Firsts first, size_t sequence) { return first.empty() ? 0 : first[sequence]; }

Tensor position_ids(const Packing& packing, Firsts first) {
  Tensor ids = Tensor::empty({packing.rows()}, DType::kInt32);
  int32_t* out = ids.indices();
  for (size_t i = 0; i < packing.count(); ++i) {
    const int32_t begin = first_of(first, i);
    for (size_t t = 0; t < packing.length(i); ++t) *out++ = begin + static_cast<int32_t>(t);
  }
  return ids;
}

// One past the last position that any row has.
size_t end_of(const Packing& packing, Firsts first) {
  size_t end = 0;
  for (size_t i = 0; i < packing.count(); ++i) {
    if (packing.length(i) == 0) continue;
    end = std::max(end, static_cast<size_t>(first_of(first, i)) + packing.length(i));
  }
  return end;
}

void check(const PositionsConfig& config, const Tensor& x, const Packing& packing, Firsts first) {
  if (!first.empty() && (first.size() != packing.count() || std::ranges::min(first) < 0)) {
    throw ShapeError("positions: {} first positions, the least {}, for {} sequences", first.size(),
                     std::ranges::min(first), packing.count());
  }
  if (x.rank() != 2 || x.extent(0) != packing.rows()) {
    throw ShapeError("positions: input {} does not have the {} rows of its packing", x.shape(),
                     packing.rows());
  }
  if (config.mode == PositionMode::kAdd && x.width() != config.width) {
    throw ShapeError(
        "positions: {} wide cannot be added to input {}; concatenate them, or make them {} wide",
        config.width, x.shape(), x.width());
  }
}

Tensor combine(PositionMode mode, const Tensor& x, const Tensor& positions) {
  return mode == PositionMode::kAdd ? add(x, positions) : concat({x, positions}, -1);
}

}  // namespace

std::string_view name_of(PositionMode mode) { return name_from_value(kModes, mode); }

Tensor sinusoids(size_t length, size_t width) {
  Tensor table = Tensor::empty({length, width});
  for (size_t column = 0; column < width; ++column) {
    const auto pair = static_cast<double>(column - column % 2);
    const double frequency = std::pow(10000.0, -pair / static_cast<double>(width));
    for (size_t p = 0; p < length; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      table.data()[p * width + column] =
          static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

SinusoidalPositions::SinusoidalPositions(const PositionsConfig& c)
    : config(c), table_(std::make_shared<Table>()) {}

Tensor SinusoidalPositions::first_rows(size_t count) const {
  constexpr size_t kLeast = 64;
  const std::lock_guard lock(table_->mutex);
  Tensor& rows = table_->rows;
  if (!rows.defined() || rows.extent(0) < count) {
    rows = sinusoids(std::bit_ceil(std::max(count, kLeast)), config.width);
  }
  return rows;
}

Tensor SinusoidalPositions::operator()(const Tensor& x, const Packing& packing,
                                       Firsts first) const {
  check(config, x, packing, first);
  const Tensor rows = first_rows(end_of(packing, first));
  return combine(config.mode, x, embedding(rows, position_ids(packing, first)));
}

LearnedPositions::LearnedPositions(const PositionsConfig& c, Rng& rng, float deviation)
    : config(c), weight(parameter({c.max_length, c.width}, Init::kNormal, rng, deviation)) {}

Tensor LearnedPositions::operator()(const Tensor& x, const Packing& packing, Firsts first) const {
  check(config, x, packing, first);
  if (const size_t end = end_of(packing, first); end > weight.extent(0)) {
    throw ShapeError(
        "positions: a sequence reaches position {} but the table {} ends at {}; cut it, or "
        "train with a larger max_length",
        end, weight.shape(), weight.extent(0));
  }
  return combine(config.mode, x, embedding(weight, position_ids(packing, first)));
}

}  // namespace attend
