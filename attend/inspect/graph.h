// Attention of all layers combined: how much of each input item is in each output item, by
// attention rollout and attention flow (Abnar and Zuidema, 2020). A layer's map, the mean of its
// heads, counts half, and its residual connection the other half.
#pragma once

#include "attend/inspect/attention_maps.h"

namespace attend {

// A sequence of items.
struct GraphSequence {
  std::string name;
  size_t items = 0;
};

// One attention layer. It adds a stage to its queries' sequence, in which half of each item comes
// from the stage before and half from the items of the keys' sequence.
struct GraphStage {
  size_t queries = 0, keys = 0;  // indices of sequences
  Tensor weights;                // [items of queries, items of keys]
  // What it attends to: shares of the keys' inputs, then of each of their stages so far; empty: the
  // last stage.
  std::vector<float> shares = {};
};

// All layers of a model, for one record.
struct AttentionGraph {
  std::vector<GraphSequence> sequences;
  std::vector<GraphStage> stages;  // in the order of computation
};

// The graph of a record, from one pass.
AttentionGraph attention_graph(const TextModel& model, const Trace& trace);

// How much of each input item is in each item of one sequence at the end: for each sequence s,
// [items of the one, items of s]. If rows of weights add up to 1, so do the rows of all these
// together.
using Relevance = std::vector<Tensor>;

// By the product of the stages. Throws ShapeError if a stage refers to a later one.
Relevance rollout(const AttentionGraph& graph, size_t sequence);

// By the maximum flow from each input item to each item at the end, where an edge carries at most
// its weight. The work grows with the fourth power: throws DataError if a sequence has more than
// kMostFlowItems.
inline constexpr size_t kMostFlowItems = 64;
Relevance flow(const AttentionGraph& graph, size_t sequence);

// Which of the two.
enum class GraphMethod { kRollout, kFlow };

// The relevance of pair.keys in pair.queries, [items of queries, items of keys]. Throws ConfigError
// if no layers lead from one to the other. A text that is too long for flow is refused before the
// model runs.
Tensor relevance(const TextModel& model, const Trace& trace, GraphMethod method,
                 const SequencePair& pair);

}  // namespace attend
