// Attention of all layers taken together: how much of each input token is in each output token, by
// attention rollout and attention flow (Abnar and Zuidema, 2020). A layer's map, the mean of its
// heads, counts half, and the residual connection around it the other half.
#pragma once

#include "attend/inspect/reading.h"

namespace attend {

// What comes into each token of a stage: from tokens of the stage before, and where the target
// looks at the source, from the last stage of the source that stands before this one.
struct GraphStage {
  bool of_source = false;  // or of the target
  Tensor own;              // [tokens, tokens]; undefined: each token stays what it is
  Tensor cross;            // [target tokens, source tokens]; undefined: none
  // Where the target looks at a mixture instead: the share of the source's inputs, then of each of
  // its stages so far.
  std::vector<float> shares = {};
};

struct AttentionGraph {
  size_t source_tokens = 0, target_tokens = 0;  // the latter with start or end
  std::vector<GraphStage> stages;
};

AttentionGraph attention_graph(const TextModel& model, const Reading& reading);

// What of each input token is in each token at the end.
struct Relevance {
  Tensor encoder;  // [source, source]
  Tensor cross;    // [target, source]
  Tensor decoder;  // [target, target]; a row of it and of `cross` sum to one where weights do
};

// The product of the stages.
Relevance rollout(const AttentionGraph& graph);

// The largest flow from each input token to each token at the end, where an edge carries at most
// its weight. Throws DataError above kMostFlowTokens tokens of a side: the work grows with the
// fourth power.
inline constexpr size_t kMostFlowTokens = 64;
Relevance flow(const AttentionGraph& graph);

// Of what a model looks at. A text that is too long for flow is refused before the model runs.
enum class GraphMethod { kRollout, kFlow };
Relevance relevance(const TextModel& model, const Reading& reading, GraphMethod method);

// The part of it: `encoder`, `cross` or `decoder`.
const Tensor& part_of(const Relevance& relevance, AttentionPart part);

}  // namespace attend
