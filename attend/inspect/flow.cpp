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

// Nodes are tokens of stages; edges go from inputs to outputs.
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

// The tokens of a side after its latest stage, and before its first.
struct Side {
  size_t tokens, first, last;
};

struct Built {
  Network network;
  Side source, target;
  std::vector<size_t> made = {0};  // where each stage of the source begins, its inputs first
  size_t free;                     // the first node that is no token yet
};

void connect_all(Network& network, const Tensor& weights, size_t from, size_t to) {
  for (size_t i = 0; i < weights.rows(); ++i) {
    for (size_t j = 0; j < weights.width(); ++j) {
      network.connect(from + j, to + i, 0.5f * weights.data()[i * weights.stride() + j]);
    }
  }
}

// Where what a look is at begins: the source's last stage, or new tokens that get shares of all.
size_t looked_at(Built& built, const GraphStage& stage) {
  if (stage.shares.empty()) return built.source.last;
  const size_t mixed = built.free;
  built.free += built.source.tokens;
  for (size_t i = 0; i < built.made.size(); ++i) {
    for (size_t token = 0; token < built.source.tokens; ++token) {
      built.network.connect(built.made[i] + token, mixed + token, stage.shares[i]);
    }
  }
  return mixed;
}

Built build(const AttentionGraph& graph) {
  const size_t inputs = graph.source_tokens + graph.target_tokens;
  size_t nodes = inputs;
  for (const GraphStage& stage : graph.stages) {
    nodes += stage.of_source ? graph.source_tokens : graph.target_tokens;
    if (!stage.shares.empty()) nodes += graph.source_tokens;
  }
  Built built{.network = Network(nodes),
              .source = {graph.source_tokens, 0, 0},
              .target = {graph.target_tokens, graph.source_tokens, graph.source_tokens},
              .free = inputs};
  for (const GraphStage& stage : graph.stages) {
    Side& side = stage.of_source ? built.source : built.target;
    const bool own = stage.own.defined();
    const size_t from = own ? side.last : looked_at(built, stage);
    for (size_t i = 0; i < side.tokens; ++i) {
      built.network.connect(side.last + i, built.free + i, 0.5f);  // what goes around the layer
    }
    connect_all(built.network, own ? stage.own : stage.cross, from, built.free);
    side.last = built.free;
    built.free += side.tokens;
    if (stage.of_source) built.made.push_back(side.last);
  }
  return built;
}

// From each token of `inputs` to each of `outputs`.
Tensor flows(const Built& built, const Side& inputs, const Side& outputs) {
  Tensor all = Tensor::zeros({outputs.tokens, inputs.tokens});
  parallel_chunks(all.size(), [&](size_t pair) {
    const size_t output = pair / inputs.tokens, input = pair % inputs.tokens;
    if (inputs.first + input == outputs.last + output) {
      all.data()[pair] = 1.0f;  // nothing lies between them
      return;
    }
    Network network = built.network;
    all.data()[pair] = network.largest_flow(inputs.first + input, outputs.last + output);
  });
  return all;
}

void check_length(size_t source_tokens, size_t target_tokens) {
  if (std::max(source_tokens, target_tokens) <= kMostFlowTokens) return;
  throw DataError(
      "flow: {} source and {} target tokens; it is for at most {} of each, beyond that use rollout",
      source_tokens, target_tokens, kMostFlowTokens);
}

}  // namespace

Relevance relevance(const TextModel& model, const Reading& reading, GraphMethod method) {
  if (method == GraphMethod::kRollout) return rollout(attention_graph(model, reading));
  check_length(reading.source.size(), reading.target.size() + 1);
  return flow(attention_graph(model, reading));
}

Relevance flow(const AttentionGraph& graph) {
  check_length(graph.source_tokens, graph.target_tokens);
  const Built built = build(graph);
  return {flows(built, built.source, built.source), flows(built, built.source, built.target),
          flows(built, built.target, built.target)};
}

}  // namespace attend
