// All heads of a model at a glance: small maps, and how spread out each head looks.
#pragma once

#include "attend/inspect/attention_maps.h"

namespace attend {

// The mean entropy of a row in nats, head by head of each layer; of the share that each |weight|
// has of its row. 0: it looks at one token. Rows that look at none do not count.
std::vector<std::vector<float>> entropies(const TextModel& model, const Trace& trace,
                                          std::span<const AttentionLayer> layers);

// Maps of at most `size` x `size` cells, each the largest |weight| in it, and the entropies of the
// whole maps. Layers with fewer heads than others have empty maps, and entropies that are no
// numbers, in their place.
struct Thumbnails {
  size_t layers = 0, heads = 0, rows = 0, columns = 0;
  std::vector<float> entropies;  // layer by layer, head by head
  // The same, row by row; 255 is the largest |weight| of the head.
  std::vector<uint8_t> cells;
};
// Of the layers of a pair. Throws ConfigError where there are none.
Thumbnails thumbnails(const TextModel& model, const Trace& trace, const SequencePair& pair,
                      size_t size);

}  // namespace attend
