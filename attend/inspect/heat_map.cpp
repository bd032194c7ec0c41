#include "attend/inspect/heat_map.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"

namespace attend {
namespace {

float largest_of_row(const HeatMap& map, size_t row) {
  float most = 0.0f;
  for (size_t column = 0; column < map.columns.size(); ++column) {
    const float size = std::abs(map.at(row, column));
    if (std::isfinite(size)) most = std::max(most, size);
  }
  return most;
}

float largest_size(const HeatMap& map) {
  float most = 0.0f;
  for (size_t row = 0; row < map.rows.size(); ++row) {
    most = std::max(most, largest_of_row(map, row));
  }
  return most;
}

}  // namespace

void HeatMap::check() const {
  const bool matrix = values.defined() && values.rank() == 2 && values.dtype() == DType::kFloat32;
  if (!matrix) {
    throw ShapeError("heat map '{}': the values are {}, not a matrix of fp32", title,
                     values.defined() ? values.shape().text() : "undefined");
  }
  if (values.extent(0) != rows.size() || values.extent(1) != columns.size()) {
    throw ShapeError(
        "heat map '{}': values are {}, but there are labels for {} rows and {} columns", title,
        values.shape(), rows.size(), columns.size());
  }
  if (!row_most.empty() && row_most.size() != rows.size()) {
    throw ShapeError("heat map '{}': {} rows have {} scales", title, rows.size(), row_most.size());
  }
  if (!std::isfinite(most) || most <= 0.0f) {
    throw DataError("heat map '{}': the darkest colour is for {}; it should be positive", title,
                    most);
  }
}

float HeatMap::largest() const {
  const float most_of_all = largest_size(*this);
  return most_of_all > 0.0f ? most_of_all : 1.0f;
}

float HeatMap::at(size_t row, size_t column) const {
  return values.data()[row * values.stride() + column];
}

float HeatMap::level(size_t row, size_t column) const {
  const float part = at(row, column) / (row_most.empty() ? most : row_most[row]);
  return std::isnan(part) ? 0.0f : std::clamp(part, has_sign ? -1.0f : 0.0f, 1.0f);
}

void share_scale(std::span<HeatMap> maps) {
  float most = 0.0f;
  for (const HeatMap& map : maps) most = std::max(most, largest_size(map));
  for (HeatMap& map : maps) map.most = most > 0.0f ? most : 1.0f;
}

void scale_by_row(HeatMap& map) {
  map.most = map.largest();
  map.row_most.clear();
  for (size_t row = 0; row < map.rows.size(); ++row) {
    const float most = largest_of_row(map, row);
    map.row_most.push_back(most > 0.0f ? most : 1.0f);
  }
}

}  // namespace attend
