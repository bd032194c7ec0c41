#include "attend/inspect/overview.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend/base/parallel.h"

namespace attend {
namespace {

// What is no number weighs nothing.
float size_of(float weight) { return std::isfinite(weight) ? std::abs(weight) : 0.0f; }

// Where each part begins when `size` is cut into `parts`, and where the last one ends.
std::vector<size_t> borders(size_t size, size_t parts) {
  std::vector<size_t> begins(parts + 1);
  for (size_t i = 0; i <= parts; ++i) begins[i] = (i * size + parts - 1) / parts;
  return begins;
}

// The largest of each cell of a coarser grid, in parts of the largest of all.
void shrink(const Tensor& weights, size_t rows, size_t columns, uint8_t* to) {
  const std::vector<size_t> below = borders(weights.rows(), rows);
  const std::vector<size_t> beside = borders(weights.width(), columns);
  std::vector<float> cells(rows * columns);
  parallel_for(rows, 1, [&](size_t line, size_t) {
    for (size_t i = below[line]; i < below[line + 1]; ++i) {
      const float* row = weights.data() + i * weights.stride();
      for (size_t column = 0; column < columns; ++column) {
        float& cell = cells[line * columns + column];
        for (size_t j = beside[column]; j < beside[column + 1]; ++j) {
          cell = std::max(cell, size_of(row[j]));
        }
      }
    }
  });
  const float most = cells.empty() ? 0.0f : std::ranges::max(cells);
  if (most == 0.0f) return;
  for (const float cell : cells) *to++ = static_cast<uint8_t>(std::lround(cell / most * 255));
}

// Of the share that each |weight| has of its row; less than 0 for a row that looks at nothing.
float row_entropy(std::span<const float> row) {
  double whole = 0, products = 0;
  for (const float weight : row) {
    const float size = size_of(weight);
    if (size == 0) continue;
    whole += size;
    products += size * std::log(size);
  }
  if (whole == 0) return -1.0f;
  return static_cast<float>(std::max(std::log(whole) - products / whole, 0.0));
}

float mean_entropy(const Tensor& weights) {
  std::vector<float> found(weights.rows());
  parallel_for(found.size(), 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) found[i] = row_entropy(weights.slice_rows(i, 1).span());
  });
  std::erase_if(found, [](float entropy) { return entropy < 0; });
  const double sum = std::accumulate(found.begin(), found.end(), 0.0);
  return found.empty() ? 0.0f : static_cast<float>(sum / static_cast<double>(found.size()));
}

}  // namespace

Thumbnails thumbnails(const TextModel& model, const Trace& trace, const SequencePair& pair,
                      size_t size) {
  const std::optional<MapBlock> block = block_between(trace, pair);
  const std::vector<AttentionLayer> layers =
      layers_between(trace.layers, block ? block->whole : pair);
  Thumbnails all;
  all.layers = layers.size();
  all.heads = std::ranges::max(layers, {}, &AttentionLayer::heads).heads;
  all.rows = std::min(size, trace.sequence(pair.queries).size());
  all.columns = std::min(size, trace.sequence(pair.keys).size());
  all.entropies.assign(all.layers * all.heads, std::numeric_limits<float>::quiet_NaN());
  all.cells.resize(all.entropies.size() * all.rows * all.columns);
  visit_heads(model, trace, layers, [&](size_t layer, size_t head, const Tensor& whole) {
    const Tensor weights = block ? block->of(whole) : whole;
    const size_t place = layer * all.heads + head;
    shrink(weights, all.rows, all.columns, all.cells.data() + place * all.rows * all.columns);
    all.entropies[place] = mean_entropy(weights);
  });
  return all;
}

std::vector<std::vector<float>> entropies(const TextModel& model, const Trace& trace,
                                          std::span<const AttentionLayer> layers) {
  std::vector<std::vector<float>> all;
  for (const AttentionLayer& layer : layers) all.emplace_back(layer.heads);
  visit_heads(model, trace, layers, [&](size_t layer, size_t head, const Tensor& weights) {
    all[layer][head] = mean_entropy(weights);
  });
  return all;
}

}  // namespace attend
