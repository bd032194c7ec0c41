#include "attend/base/error.h"
#include "attend/inspect/graph.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// What of each sequence's inputs is in the items of one.
Relevance at_the_start(const AttentionGraph& graph, size_t sequence) {
  const size_t items = graph.sequences[sequence].items;
  Relevance parts;
  for (const GraphSequence& other : graph.sequences) {
    parts.push_back(Tensor::zeros({items, other.items}));
  }
  for (size_t i = 0; i < items; ++i) parts[sequence].data()[i * items + i] = 1.0f;
  return parts;
}

// What a layer looks at: the last of the stages of a sequence, its inputs first, or shares of all.
Relevance looked_at(std::span<const Relevance> stages, std::span<const float> shares) {
  if (shares.empty()) return stages.back();
  if (shares.size() > stages.size()) {
    throw ShapeError("rollout: shares of {} stages, but the keys have {} so far", shares.size(),
                     stages.size());
  }
  Relevance mixed;
  for (size_t s = 0; s < stages[0].size(); ++s) {
    Tensor sum = scale(stages[0][s], shares[0]);
    for (size_t i = 1; i < shares.size(); ++i) sum = add(sum, scale(stages[i][s], shares[i]));
    mixed.push_back(sum);
  }
  return mixed;
}

}  // namespace

AttentionGraph attention_graph(const TextModel& model, const Trace& trace) {
  AttentionGraph graph;
  for (const TraceSequence& sequence : trace.sequences) {
    graph.sequences.push_back({sequence.name, sequence.size()});
  }
  const std::vector<Tensor> maps = attention_maps(model, trace, trace.layers);
  for (size_t i = 0; i < maps.size(); ++i) {
    const AttentionLayer& layer = trace.layers[i];
    graph.stages.push_back(
        {trace.index_of(layer.queries), trace.index_of(layer.keys), maps[i], layer.shares});
  }
  return graph;
}

Relevance rollout(const AttentionGraph& graph, size_t sequence) {
  const NoGrad no_grad;
  std::vector<std::vector<Relevance>> made;  // of each sequence, its inputs first
  for (size_t s = 0; s < graph.sequences.size(); ++s) made.push_back({at_the_start(graph, s)});
  for (const GraphStage& stage : graph.stages) {
    const Relevance from = looked_at(made[stage.keys], stage.shares);
    Relevance next = made[stage.queries].back();
    for (size_t s = 0; s < next.size(); ++s) {
      next[s] = scale(add(next[s], matmul(stage.weights, from[s])), 0.5f);
    }
    made[stage.queries].push_back(std::move(next));
  }
  return made.at(sequence).back();
}

}  // namespace attend
