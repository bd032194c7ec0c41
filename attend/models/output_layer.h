// The last layer of a language model: from rows to the logits of the next token.
#pragma once

#include "attend/nn/embedding.h"

namespace attend {

// A linear layer, or the embedding's table (Press and Wolf, 2017) with a bias. Rows of another
// width than the table's are projected first.
struct OutputLayer {
  Linear projection;  // if it is tied and widths differ
  Linear output;

  OutputLayer() = default;
  OutputLayer(const Embedding& table, size_t in, bool tied, Rng& rng) {
    const size_t vocabulary = table.weight.out();
    if (!tied) {
      output = Linear(in, vocabulary, rng);
      return;
    }
    if (in != table.width()) projection = Linear(in, table.width(), rng, {.bias = false});
    output = table.tied_output();
    output.bias = parameter({vocabulary}, Init::kZeros, rng);
  }

  // x [rows, in] to [rows, vocabulary].
  Tensor operator()(const Tensor& x) const {
    return output(projection.weight.defined() ? projection(x) : x);
  }

  void visit(Visitor& v) {
    v("projection", projection);
    output.visit(v);
  }
};

}  // namespace attend
