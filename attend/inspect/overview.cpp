#include "attend/inspect/overview.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

// What is no number weighs nothing.
float size_of(float weight) { return std::isfinite(weight) ? std::abs(weight) : 0.0f; }

// The largest of each cell of a coarser grid, in parts of the largest of all.
void shrink(const Tensor& weights, size_t rows, size_t columns, uint8_t* to) {
  std::vector<float> cells(rows * columns);
  for (size_t i = 0; i < weights.rows(); ++i) {
    const float* row = weights.data() + i * weights.stride();
    float* line = cells.data() + i * rows / weights.rows() * columns;
    for (size_t j = 0; j < weights.width(); ++j) {
      float& cell = line[j * columns / weights.width()];
      cell = std::max(cell, size_of(row[j]));
    }
  }
  const float most = cells.empty() ? 0.0f : std::ranges::max(cells);
  if (most == 0.0f) return;
  for (const float cell : cells) *to++ = static_cast<uint8_t>(std::lround(cell / most * 255));
}

float mean_entropy(const Tensor& weights) {
  double sum = 0, rows = 0;
  for (size_t i = 0; i < weights.rows(); ++i) {
    double whole = 0, products = 0;
    for (const float weight : weights.slice_rows(i, 1).span()) {
      const double size{size_of(weight)};
      if (size == 0) continue;
      whole += size;
      products += size * std::log(size);
    }
    if (whole == 0) continue;
    ++rows;
    sum += std::max(std::log(whole) - products / whole, 0.0);  // of sizes / whole
  }
  return static_cast<float>(rows > 0 ? sum / rows : 0.0);
}

}  // namespace

Thumbnails thumbnails(const TextModel& model, const Reading& reading, AttentionPart part,
                      size_t size) {
  const std::vector<AttentionLayer> layers = layers_of(model.model->attention_layers(), part);
  Thumbnails all;
  if (layers.empty()) return all;
  all.layers = layers.size();
  all.heads = layers.front().heads;
  visit_heads(model, reading, layers, [&](size_t layer, size_t head, const Tensor& weights) {
    if (all.cells.empty()) {
      all.rows = std::min(size, weights.rows());
      all.columns = std::min(size, weights.width());
      all.cells.resize(all.layers * all.heads * all.rows * all.columns);
    }
    const size_t place = (layer * all.heads + head) * all.rows * all.columns;
    shrink(weights, all.rows, all.columns, all.cells.data() + place);
  });
  return all;
}

std::vector<std::vector<float>> entropies(const TextModel& model, const Reading& reading,
                                          std::span<const AttentionLayer> layers) {
  std::vector<std::vector<float>> all;
  for (const AttentionLayer& layer : layers) all.emplace_back(layer.heads);
  visit_heads(model, reading, layers, [&](size_t layer, size_t head, const Tensor& weights) {
    all[layer][head] = mean_entropy(weights);
  });
  return all;
}

}  // namespace attend
