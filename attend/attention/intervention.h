// Changing attention to see what follows from it. While an Intervention is installed in a thread,
// named attention layers that this thread runs use the weights it leaves them. Layers that it does
// not name, and passes without one, run as they always do. Nothing of a model changes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// Heads of a layer that a Recorder sees by that name; none: all of them.
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

// Queries and keys are counted from 0 in each sequence, the frame of a text included. They are
// those of a pass over whole sequences, or of a search with a beam of 1: rows of several hypotheses
// cannot be told apart.
class Intervention {
 public:
  Intervention();  // installs itself, over the one before
  ~Intervention();
  Intervention(const Intervention&) = delete;
  Intervention& operator=(const Intervention&) = delete;

  // All weights of the head become 0: it adds nothing to the output of its layer (Michel et al.,
  // 2019).
  Intervention& knock_out(HeadsOf heads);
  // The query does not see the key, as if a mask had taken the pair away: a softmax shares its
  // weight among the others. A query that sees nothing has weights of 0.
  Intervention& mask(HeadsOf heads, size_t query, size_t key);
  // The query has these weights in place of its own. Keys past the last of them have 0; weights of
  // keys that are not there are left out.
  Intervention& replace_row(HeadsOf heads, size_t query, std::vector<float> weights);

  std::vector<HeadsOf> heads() const;  // that it names, in any way

  // Whether it changes anything of a layer, which then keeps its weights in memory.
  bool changes(const std::string& layer) const;

  // What the layer goes on with in place of scores [queries, keys], before they are weighted, and
  // of the weights. On the tape: gradients flow through what was not replaced.
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

// The innermost one of this thread, or nullptr.
const Intervention* current_intervention();
// The same where it changes something of the layer.
const Intervention* intervention_in(const std::string& layer);
}  // namespace attend
