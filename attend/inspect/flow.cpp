// Largest flows by Dinic's method (1970): shortest paths first, all of one length at a time.
#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/inspect/graph.h"

namespace attend {
namespace {

constexpr float kLeast = 1e-5f;  // an edge or a path that carries less is none

struct Edge {
  uint32_t to, back;  // the node it goes to, and the place of its reverse among that node's edges
  float capacity;
};

// Nodes are items of stages; edges go from inputs to outputs.
class Network {
 public:
  explicit Network(size_t nodes) : edges_(nodes), level_(nodes), next_(nodes) {}

  void connect(size_t from, size_t to, float capacity) {
    if (!(capacity >= kLeast)) return;  // nor what is no number
    edges_[from].push_back({static_cast<uint32_t>(to), size_of(to), capacity});
    edges_[to].push_back({static_cast<uint32_t>(from), size_of(from) - 1, 0.0f});
  }

  // On a copy, as it uses the network up.
  float largest_flow(size_t from, size_t to) {
    float total = 0;
    while (find_levels(from, to)) {
      std::ranges::fill(next_, 0u);
      while (const float pushed = push(from, to, std::numeric_limits<float>::infinity())) {
        total += pushed;
      }
    }
    return total;
  }

 private:
  uint32_t size_of(size_t node) const { return static_cast<uint32_t>(edges_[node].size()); }

  bool find_levels(size_t from, size_t to) {
    std::ranges::fill(level_, -1);
    level_[from] = 0;
    std::vector<size_t> queue = {from};
    for (size_t i = 0; i < queue.size(); ++i) {
      for (const Edge& edge : edges_[queue[i]]) {
        if (edge.capacity < kLeast || level_[edge.to] >= 0) continue;
        level_[edge.to] = level_[queue[i]] + 1;
        queue.push_back(edge.to);
      }
    }
    return level_[to] >= 0;
  }

  // What one path of shortest length carries; recursion is as deep as the model has stages.
  float push(size_t at, size_t to, float most) {
    if (at == to) return most;
    for (; next_[at] < edges_[at].size(); ++next_[at]) {
      Edge& edge = edges_[at][next_[at]];
      if (edge.capacity < kLeast || level_[edge.to] != level_[at] + 1) continue;
      const float pushed = push(edge.to, to, std::min(most, edge.capacity));
      if (pushed == 0.0f) continue;
      edge.capacity -= pushed;
      edges_[edge.to][edge.back].capacity += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<std::vector<Edge>> edges_;
  std::vector<int> level_;
  std::vector<uint32_t> next_;
};

// Where the stages of a sequence begin, its inputs first.
struct Stages {
  size_t items;
  std::vector<size_t> begins;
};

struct Built {
  Network network;
  std::vector<Stages> sequences;
  size_t free;  // the first node that is no item yet
};

void connect_all(Network& network, const Tensor& weights, size_t from, size_t to) {
  for (size_t i = 0; i < weights.rows(); ++i) {
    for (size_t j = 0; j < weights.width(); ++j) {
      network.connect(from + j, to + i, 0.5f * weights.data()[i * weights.stride() + j]);
    }
  }
}

// Where what a layer looks at begins: the last stage of its keys, or new items that get shares of
// all.
size_t looked_at(Built& built, const GraphStage& stage) {
  const Stages& keys = built.sequences[stage.keys];
  if (stage.shares.empty()) return keys.begins.back();
  if (stage.shares.size() > keys.begins.size()) {
    throw ShapeError("flow: shares of {} stages, but the keys have {} so far", stage.shares.size(),
                     keys.begins.size());
  }
  const size_t mixed = built.free;
  built.free += keys.items;
  for (size_t i = 0; i < stage.shares.size(); ++i) {
    for (size_t item = 0; item < keys.items; ++item) {
      built.network.connect(keys.begins[i] + item, mixed + item, stage.shares[i]);
    }
  }
  return mixed;
}

Built build(const AttentionGraph& graph) {
  size_t inputs = 0, nodes = 0;
  std::vector<Stages> sequences;
  for (const GraphSequence& sequence : graph.sequences) {
    sequences.push_back({sequence.items, {inputs}});
    inputs += sequence.items;
  }
  nodes = inputs;
  for (const GraphStage& stage : graph.stages) {
    nodes += graph.sequences[stage.queries].items;
    if (!stage.shares.empty()) nodes += graph.sequences[stage.keys].items;
  }
  Built built{Network(nodes), std::move(sequences), inputs};
  for (const GraphStage& stage : graph.stages) {
    const size_t from = looked_at(built, stage);
    Stages& queries = built.sequences[stage.queries];
    for (size_t i = 0; i < queries.items; ++i) {
      built.network.connect(queries.begins.back() + i, built.free + i, 0.5f);  // the residual
    }
    connect_all(built.network, stage.weights, from, built.free);
    queries.begins.push_back(built.free);
    built.free += queries.items;
  }
  return built;
}

// From each input of one sequence to each item of another at the end.
Tensor flows(const Built& built, const Stages& from, const Stages& to) {
  Tensor all = Tensor::zeros({to.items, from.items});
  parallel_chunks(all.size(), [&](size_t pair) {
    const size_t output = to.begins.back() + pair / from.items;
    const size_t input = from.begins.front() + pair % from.items;
    if (input == output) {
      all.data()[pair] = 1.0f;  // nothing lies between them
      return;
    }
    Network network = built.network;
    all.data()[pair] = network.largest_flow(input, output);
  });
  return all;
}

void check_length(std::string_view name, size_t items) {
  if (items <= kMostFlowItems) return;
  throw DataError("flow: '{}' has {} items, but flow takes at most {} of a sequence; use rollout",
                  name, items, kMostFlowItems);
}

// Whether anything of `from` can be in `to`: some layers lead there.
bool leads(const Trace& trace, const std::string& from, const std::string& to) {
  std::vector<std::string> reached = {from};
  for (const AttentionLayer& layer : trace.layers) {
    if (std::ranges::count(reached, layer.keys) == 0) continue;
    if (layer.queries == to) return true;
    reached.push_back(layer.queries);
  }
  return false;
}

}  // namespace

Relevance flow(const AttentionGraph& graph, size_t sequence) {
  for (const GraphSequence& each : graph.sequences) check_length(each.name, each.items);
  const Built built = build(graph);
  Relevance found;
  for (const Stages& from : built.sequences) {
    found.push_back(flows(built, from, built.sequences.at(sequence)));
  }
  return found;
}

Tensor relevance(const TextModel& model, const Trace& trace, GraphMethod method,
                 const SequencePair& pair) {
  const size_t queries = trace.index_of(pair.queries), keys = trace.index_of(pair.keys);
  if (!leads(trace, pair.keys, pair.queries)) {
    chosen_pair(trace.layers, pair.queries, pair.keys);  // throws with those there are
  }
  if (method == GraphMethod::kRollout) return rollout(attention_graph(model, trace), queries)[keys];
  for (const TraceSequence& each : trace.sequences) check_length(each.name, each.size());
  return flow(attention_graph(model, trace), queries)[keys];
}

}  // namespace attend
