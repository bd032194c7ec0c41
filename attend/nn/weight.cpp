#include "attend/nn/weight.h"

#include "attend/ops/activations.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/shape.h"

namespace attend {

// scale up down = up (scale down^T)^T.
Tensor LowRank::matrix() const {
  return linear(up, transpose(attend::scale(down, scale)), {}, Activation::kIdentity);
}

Tensor Weight::changed_matrix() const { return add(value, change->matrix()); }

Tensor Weight::changed_times(const Tensor& x, const Tensor& bias, Activation activation) const {
  const LowRank& c = *change;
  const Tensor inner = linear(attend::dropout(x, c.dropout), c.down, {}, Activation::kIdentity);
  const Tensor added = linear(attend::scale(inner, c.scale), c.up, {}, Activation::kIdentity);
  const Tensor y = add(linear(x, value, bias, Activation::kIdentity), added);
  return activation == Activation::kIdentity ? y : activate(activation, y);
}

Tensor Weight::changed_rows(const Tensor& ids, float scale) const {
  const Tensor inner = embedding(change->up, ids, scale * change->scale);
  const Tensor added = linear(inner, transpose(change->down), {}, Activation::kIdentity);
  return add(embedding(value, ids, scale), added);
}

}  // namespace attend
