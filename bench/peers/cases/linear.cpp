// Fully connected layers.
#include "attend/ops/linear.h"

#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

Case linear_case(const Inputs& in) {
  const auto leaves = in.leaves({"x", "weight", "bias"});
  const Tensor x = leaves[0].tensor, weight = leaves[1].tensor, bias = leaves[2].tensor;
  return both_ways(leaves, in.at("dy"), [=] { return linear(x, weight, bias); });
}

const Kind linear_kind("linear", linear_case);

}  // namespace
}  // namespace attend::peers
