#include "attend/inspect/overview.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

// The largest weight of each cell of a coarser grid.
void shrink(const Tensor& weights, size_t rows, size_t columns, uint8_t* to) {
  for (size_t i = 0; i < weights.rows(); ++i) {
    const float* row = weights.data() + i * weights.stride();
    uint8_t* cells = to + i * rows / weights.rows() * columns;
    for (size_t j = 0; j < weights.width(); ++j) {
      const auto shade = static_cast<uint8_t>(std::lround(std::clamp(row[j], 0.0f, 1.0f) * 255));
      uint8_t& cell = cells[j * columns / weights.width()];
      cell = std::max(cell, shade);
    }
  }
}

float mean_entropy(const Tensor& weights) {
  double sum = 0;
  for (size_t i = 0; i < weights.rows(); ++i) {
    for (const float w : weights.slice_rows(i, 1).span()) {
      if (w > 0) sum -= double{w} * std::log(double{w});
    }
  }
  return static_cast<float>(sum / static_cast<double>(std::max<size_t>(weights.rows(), 1)));
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
