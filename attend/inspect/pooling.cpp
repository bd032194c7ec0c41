#include "attend/inspect/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

std::vector<std::string> pooled_labels(const std::vector<std::string>& labels, size_t factor) {
  if (factor <= 1) return labels;
  std::vector<std::string> ranges;
  for (size_t begin = 0; begin < labels.size(); begin += factor) {
    ranges.push_back(fmt::format("{}-{}", begin + 1, std::min(begin + factor, labels.size())));
  }
  return ranges;
}

}  // namespace

HeatMap pooled(const HeatMap& map, size_t rows, size_t columns) {
  if (rows <= 1 && columns <= 1) return map;
  HeatMap small = map;
  small.rows = pooled_labels(map.rows, rows);
  small.columns = pooled_labels(map.columns, columns);
  if (rows > 1) small.row_breaks.clear();
  if (columns > 1) small.column_breaks.clear();
  small.values = Tensor::zeros({small.rows.size(), small.columns.size()});
  const size_t width = small.columns.size();
  for (size_t row = 0; row < map.rows.size(); ++row) {
    float* most = small.values.data() + row / rows * width;
    for (size_t column = 0; column < map.columns.size(); ++column) {
      float& cell = most[column / columns];
      const float value = map.at(row, column);
      if (std::abs(value) > std::abs(cell)) cell = value;
    }
  }
  if (!map.row_most.empty()) scale_by_row(small);
  return small;
}

}  // namespace attend
