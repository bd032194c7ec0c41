// Convolutions.
#include "attend/ops/conv.h"
#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

// x [sequences x length, channels]; padded on the left only, so that no row sees a later one.
Case conv1d_causal_case(const Inputs& in) {
  const auto leaves = in.leaves({"x", "weight", "bias"});
  const Tensor x = leaves[0].tensor, weight = leaves[1].tensor, bias = leaves[2].tensor;
  const auto dilation = static_cast<size_t>(in.number("dilation"));
  const Conv1dOptions options{.dilation = dilation, .left = dilation * (weight.extent(2) - 1)};
  const Packing packing(in.integers("lengths"));
  return both_ways(leaves, in.at("dy"),
                   [=] { return conv1d(x, packing, weight, bias, options).rows; });
}

const Kind conv1d_causal_kind("conv1d_causal", conv1d_causal_case);

}  // namespace
}  // namespace attend::peers
