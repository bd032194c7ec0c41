// Recurrent layers over packed sequences.
#include "attend/ops/recurrent.h"

#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

Case recurrent_case(const Inputs& in, Cell cell) {
  const auto leaves = in.leaves({"x", "weight_ih", "weight_hh", "bias_ih", "bias_hh"});
  const RecurrentWeights weights{.input = leaves[1].tensor,
                                 .hidden = leaves[2].tensor,
                                 .input_bias = leaves[3].tensor,
                                 .hidden_bias = leaves[4].tensor};
  const Tensor x = leaves[0].tensor;
  const Packing packing(in.integers("lengths"));
  return both_ways(leaves, in.at("dy"),
                   [=] { return recurrent(x, packing, weights, {}, {.cell = cell}).output; });
}

const Kind lstm_kind("lstm", [](const Inputs& in) { return recurrent_case(in, Cell::kLstm); });
const Kind gru_kind("gru", [](const Inputs& in) { return recurrent_case(in, Cell::kGru); });

}  // namespace
}  // namespace attend::peers
