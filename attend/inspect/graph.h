// Attention of all layers taken together: how much of each input item is in each item at the end,
// by attention rollout and attention flow (Abnar and Zuidema, 2020). A layer's map, the mean of its
// heads, counts half, and the residual connection around it the other half.
#pragma once

#include "attend/inspect/attention_maps.h"

namespace attend {

struct GraphSequence {
  std::string name;
  size_t items = 0;
};

// One attention layer. Its queries' sequence has one stage more after it: half of each item is what
// it was before, and half comes from the items of the keys' sequence.
struct GraphStage {
  size_t queries = 0, keys = 0;  // indices of sequences
  Tensor weights;                // [items of queries, items of keys]
  // What it looks at: shares of the keys' inputs, then of each of their stages so far; empty: the
  // last stage.
  std::vector<float> shares = {};
};

struct AttentionGraph {
  std::vector<GraphSequence> sequences;
  std::vector<GraphStage> stages;  // in the order in which data go through them
};

AttentionGraph attention_graph(const TextModel& model, const Trace& trace);

// What of each input item is in each item of one sequence at the end: for each sequence s,
// [items of the one, items of s]. Where rows of weights sum to one, so do the rows of all of them
// together. Throw ShapeError where a stage has shares of stages that do not come before it.
using Relevance = std::vector<Tensor>;

// The product of the stages.
Relevance rollout(const AttentionGraph& graph, size_t sequence);

// The largest flow from each input item to each item at the end, where an edge carries at most its
// weight. Throws DataError where a sequence has more than kMostFlowItems: the work grows with the
// fourth power.
inline constexpr size_t kMostFlowItems = 64;
Relevance flow(const AttentionGraph& graph, size_t sequence);

enum class GraphMethod { kRollout, kFlow };

// Of the items of pair.keys in those of pair.queries. Throws ConfigError where no layers lead from
// one to the other. A text that is too long for flow is refused before the model runs.
Tensor relevance(const TextModel& model, const Trace& trace, GraphMethod method,
                 const SequencePair& pair);

}  // namespace attend
