// Look-up tables.
#include "attend/ops/embedding.h"

#include <memory>

#include "attend/tensor/tape.h"
#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

// The forward is not timed.
Case embedding_backward_case(const Inputs& in) {
  const auto leaves = in.leaves({"weight"});
  const auto y = std::make_shared<Tensor>();
  return {.leaves = leaves,
          .step =
              [y, dy = in.at("dy")] {
                backward(*y, dy);
                return *y;
              },
          .prepare = [y, weight = leaves[0].tensor,
                      ids = in.at("ids")] { *y = embedding(weight, ids); }};
}

const Kind embedding_backward_kind("embedding_backward", embedding_backward_case);

}  // namespace
}  // namespace attend::peers
