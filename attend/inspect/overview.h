// All heads of a model at a glance: small maps and entropies.
#pragma once

#include "attend/inspect/attention_maps.h"

namespace attend {

// The mean entropy of the rows of each head of each layer, in nats. Weights count by their absolute
// share of the row. 0: all weight is on one token. Rows without weight do not count.
std::vector<std::vector<float>> entropies(const TextModel& model, const Trace& trace,
                                          std::span<const AttentionLayer> layers);

// Small maps, in which a cell is the largest absolute weight that it covers, and the entropies of
// the whole maps. For heads that a layer does not have, maps are empty and entropies NaN.
struct Thumbnails {
  size_t layers = 0, heads = 0, rows = 0, columns = 0;
  std::vector<float> entropies;  // by layer and head
  // The same, row by row; 255 is the head's largest absolute weight.
  std::vector<uint8_t> cells;
};
// Maps of at most `size` x `size` cells, for the layers of a pair. Throws ConfigError if there are
// none.
Thumbnails thumbnails(const TextModel& model, const Trace& trace, const SequencePair& pair,
                      size_t size);

}  // namespace attend
