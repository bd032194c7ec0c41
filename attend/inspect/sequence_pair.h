// Pairs of sequences, one attending to the other: which ones a model has, and the labels of their
// maps.
#pragma once

#include <optional>

#include "attend/inspect/trace.h"

namespace attend {

// A sequence that attends to another, or to itself.
struct SequencePair {
  std::string queries, keys;

  // Whether it is self-attention.
  bool is_self() const { return queries == keys; }
  bool operator==(const SequencePair&) const = default;
};
std::string name_of(const SequencePair& pair);  // "target -> source"

// All pairs of some layers, cross-attention first.
std::vector<SequencePair> sequence_pairs(std::span<const AttentionLayer> layers);

// The first of them with these queries and keys; an empty name matches any. Throws ConfigError that
// lists the pairs.
SequencePair chosen_pair(std::span<const AttentionLayer> layers, std::string_view queries = "",
                         std::string_view keys = "");

// The layers of a pair, and the layer of a name. Throw ConfigError that lists what there is.
std::vector<AttentionLayer> layers_between(std::span<const AttentionLayer> layers,
                                           const SequencePair& pair);
const AttentionLayer& layer_named(std::span<const AttentionLayer> layers, std::string_view name);

// The pair of a layer.
inline SequencePair pair_of(const AttentionLayer& layer) { return {layer.queries, layer.keys}; }

// A block of the maps of a joined sequence: what one of its parts sees of another, such as the
// second sentence of the first.
struct MapBlock {
  SequencePair whole;  // the pair whose maps have it
  size_t row = 0, rows = 0, column = 0, columns = 0;

  Tensor of(const Tensor& map) const;  // a view
};
// The block between two parts of the joined sequence of a trace; none if they are no parts of one.
std::optional<MapBlock> block_between(const Trace& trace, const SequencePair& parts);
// The pairs of its parts, those of two different ones first; none without a joined sequence.
std::vector<SequencePair> blocks_of(const Trace& trace);
// The first of them with these queries and keys; an empty name matches any, but not both. None if
// there is no such block.
std::optional<SequencePair> chosen_block(const Trace& trace, std::string_view queries,
                                         std::string_view keys);

// Where the parts of a joined sequence begin, but the first; empty for other sequences.
std::vector<size_t> part_breaks(const Trace& trace, std::string_view sequence);

// The labels of the rows (queries) and columns (keys) of a pair's maps, and which of them are a
// start or an end. In self-attention the rows are the items; in cross-attention they are what was
// written after each item.
struct MapLabels {
  std::vector<std::string> rows, columns;
  Framing row_framing = {}, column_framing = {};
  std::vector<size_t> row_breaks = {}, column_breaks = {};  // part_breaks()
};
MapLabels map_labels(const Trace& trace, const SequencePair& pair);

// The same for saliency maps: rows are always what was written.
MapLabels written_labels(const Trace& trace, std::string_view keys);

}  // namespace attend
