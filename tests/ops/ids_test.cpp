// Ops of values refuse ids, in every build: read as floats, these are nearly 0 or NaN.
#include <gtest/gtest.h>

#include <functional>

#include "attend/ops/activations.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/glu.h"
#include "attend/ops/linear.h"
#include "attend/ops/norm.h"
#include "attend/ops/reduce.h"
#include "attend/ops/shape.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"

namespace attend {
namespace {

TEST(Ids, AreRefusedByOpsOfValues) {
  const Tensor ids = Tensor::ids({1, 2, 3, 4}).reshape({2, 2});
  const Tensor x = Tensor::full({2, 2}, 1.0f);
  const TrainingScope training(Rng(1));
  const std::vector<std::pair<const char*, std::function<Tensor()>>> calls{
      {"add", [&] { return add(x, ids); }},
      {"multiply", [&] { return multiply(ids, x); }},
      {"scale", [&] { return scale(ids, 2.0f); }},
      {"where", [&] { return where(ids, ids, x); }},
      {"activate", [&] { return activate(Activation::kTanh, ids); }},
      {"glu", [&] { return glu(ids); }},
      {"dropout", [&] { return dropout(ids, 0.5f); }},
      {"linear, input", [&] { return linear(ids, x); }},
      {"linear, weight", [&] { return linear(x, ids); }},
      {"matmul", [&] { return matmul(x, ids); }},
      {"layer norm", [&] { return layer_norm(ids, {}, {}); }},
      {"rms norm", [&] { return rms_norm(ids, {}); }},
      {"softmax", [&] { return softmax(ids); }},
      {"sum", [&] { return sum(ids); }},
      {"concat",
       [&] {
         return concat({x, ids}, 0);
       }},
      {"transpose", [&] { return transpose(ids); }},
      {"embedding, table", [&] { return embedding(ids, Tensor::ids({0})); }},
      {"cross entropy, logits",
       [&] {
         return cross_entropy(ids, Tensor::ids({0, 1}));
       }},
  };
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    expect_error<ShapeError>(call, "holds int32 ids, not values");
  }
}

}  // namespace
}  // namespace attend
