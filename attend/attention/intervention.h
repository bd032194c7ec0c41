// Changing attention to see the effect. While an Intervention is installed in a thread, the
// attention layers that it names use the weights it sets. Other layers run as usual, and the model
// itself is not changed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// Heads of a layer, named as for a Recorder; no head: all of them.
struct HeadsOf {
  std::string layer;
  std::optional<size_t> head = {};
};

// One head of one sequence in one call of a layer. Row i of its scores and weights is of query
// first_query + i, and column j of key first_key + j, counted over all steps of a decoder.
struct HeadCall {
  const std::string& layer;
  size_t head;
  size_t first_query = 0, first_key = 0;
};

// Queries and keys are counted from 0 in each sequence, start and end tokens included. It works in
// a pass over whole sequences and in a search with a beam of 1; in a wider beam the rows of the
// hypotheses cannot be told apart.
class Intervention {
 public:
  Intervention();  // installs itself in this thread, in place of the one before
  ~Intervention();
  Intervention(const Intervention&) = delete;
  Intervention& operator=(const Intervention&) = delete;

  // All weights of the head become 0: it adds nothing to the output of its layer (Michel et al.,
  // 2019).
  Intervention& knock_out(HeadsOf heads);
  // The query does not see the key, as if the pair were masked: a softmax redistributes its weight.
  // A query that sees nothing has weights of 0.
  Intervention& mask(HeadsOf heads, size_t query, size_t key);
  // The query gets these weights instead of its own. Further keys get 0; weights beyond the last
  // key are ignored.
  Intervention& replace_row(HeadsOf heads, size_t query, std::vector<float> weights);

  std::vector<HeadsOf> heads() const;  // that it changes in any way

  // Whether it changes a layer, which then keeps its weights in memory.
  bool changes(const std::string& layer) const;

  // What the layer uses instead of its scores [queries, keys], before weighting, and instead of its
  // weights. On the tape: gradients flow through what was not replaced.
  Tensor scores(const HeadCall& call, const Tensor& scores) const;
  Tensor weights(const HeadCall& call, const Tensor& weights) const;

 private:
  struct Pair {
    HeadsOf heads;
    size_t query, key;
  };
  struct Row {
    HeadsOf heads;
    size_t query;
    std::vector<float> weights;
  };

  Intervention* before_;
  std::vector<HeadsOf> knocked_out_;
  std::vector<Pair> masked_;
  std::vector<Row> replaced_;
};

// The intervention that was installed last in this thread, or nullptr.
const Intervention* current_intervention();
// The same if it changes this layer, otherwise nullptr.
const Intervention* intervention_in(const std::string& layer);
}  // namespace attend
