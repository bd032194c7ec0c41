// A table of vectors, one a token.
#pragma once

#include <cmath>

#include "attend/nn/embedding_tap.h"
#include "attend/nn/init.h"
#include "attend/nn/linear.h"
#include "attend/nn/visit.h"
#include "attend/ops/embedding.h"

namespace attend {

struct Embedding {
  Tensor weight;                 // [vocab, width]
  kernels::PackedMatrix packed;  // instead of the weight: see pack_weights

  Embedding() = default;
  Embedding(size_t vocab, size_t width, Rng& rng)
      : weight(parameter({vocab, width}, Init::kNormal, rng,
                         1.0f / std::sqrt(static_cast<float>(width)))) {}

  size_t width() const { return packed.empty() ? weight.width() : packed.rows(); }

  // ids of any shape to [ids..., width].
  Tensor operator()(const Tensor& ids, float scale = 1.0f) const {
    const auto look_up = [this, scale](const Tensor& known) {
      return packed.empty() ? embedding(weight, known, scale) : embedding(packed, known, scale);
    };
    EmbeddingTap* const tap = current_embedding_tap();
    return tap == nullptr ? look_up(ids) : tap->embed(ids, look_up);
  }

  // The output layer that shares the table (Press and Wolf, 2017): x [..., width] to [..., vocab].
  Linear tied_output() const { return Linear::tied(weight, packed); }

  void visit(Visitor& v) { v.matrix("weight", weight, packed); }
};

}  // namespace attend
