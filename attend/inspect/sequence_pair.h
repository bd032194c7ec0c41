// Which sequence looks at which: what there is to choose from, and what the rows and columns of
// its maps are.
#pragma once

#include "attend/inspect/trace.h"

namespace attend {

// One sequence looks at another, or at itself.
struct SequencePair {
  std::string queries, keys;

  bool is_self() const { return queries == keys; }
  bool operator==(const SequencePair&) const = default;
};
std::string name_of(const SequencePair& pair);  // "target -> source"

// Those that some layer has, pairs of two sequences first.
std::vector<SequencePair> sequence_pairs(std::span<const AttentionLayer> layers);

// The first of them with these queries and keys; an empty name is any. Throws ConfigError with
// those there are.
SequencePair chosen_pair(std::span<const AttentionLayer> layers, std::string_view queries = "",
                         std::string_view keys = "");

// The layers of a pair, or the layer of a name. Throw ConfigError with those there are.
std::vector<AttentionLayer> layers_between(std::span<const AttentionLayer> layers,
                                           const SequencePair& pair);
const AttentionLayer& layer_named(std::span<const AttentionLayer> layers, std::string_view name);

inline SequencePair pair_of(const AttentionLayer& layer) { return {layer.queries, layer.keys}; }

// What the rows (queries) and columns (keys) of a pair's maps are, and which of them are a start or
// an end. A sequence that looks at itself has its items as rows; one that looks at another has what
// was written after each of them.
struct MapLabels {
  std::vector<std::string> rows, columns;
  Framing row_framing = {}, column_framing = {};
};
MapLabels map_labels(const Trace& trace, const SequencePair& pair);

// The same for maps of what each written item is due to, in any sequence: rows are always what was
// written.
MapLabels written_labels(const Trace& trace, std::string_view keys);

}  // namespace attend
