// A table with one vector per token.
#pragma once

#include <cmath>

#include "attend/nn/embedding_tap.h"
#include "attend/nn/init.h"
#include "attend/nn/linear.h"
#include "attend/nn/visit.h"

namespace attend {

struct Embedding {
  Weight weight;        // [vocab, width]
  bool sparse = false;  // whether the gradient is rows: see sparse_embedding()

  Embedding() = default;
  Embedding(size_t vocab, size_t width, Rng& rng)
      : weight(parameter({vocab, width}, Init::kNormal, rng,
                         1.0f / std::sqrt(static_cast<float>(width)))) {}

  size_t width() const { return weight.in(); }  // of a vector

  // ids of any shape to [ids..., width].
  Tensor operator()(const Tensor& ids, float scale = 1.0f) const {
    const auto look_up = [this, scale](const Tensor& known) {
      return sparse ? sparse_embedding(weight.value, known) : weight.rows(known, scale);
    };
    EmbeddingTap* const tap = current_embedding_tap();
    return tap == nullptr ? look_up(ids) : tap->embed(ids, look_up);
  }

  // The output layer that shares the table (Press and Wolf, 2017): x [..., width] to [..., vocab].
  Linear tied_output() const { return Linear(weight); }

  void visit(Visitor& v) { v("weight", weight); }
};

}  // namespace attend
