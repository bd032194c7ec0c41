// Layers that treat each row or element by itself, and the loss.
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/norm.h"
#include "attend/tensor/training.h"
#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

Case layer_norm_case(const Inputs& in) {
  const auto leaves = in.leaves({"x", "weight", "bias"});
  const Tensor x = leaves[0].tensor, weight = leaves[1].tensor, bias = leaves[2].tensor;
  return both_ways(leaves, in.at("dy"), [=] { return layer_norm(x, weight, bias); });
}

Case dropout_case(const Inputs& in) {
  const auto leaves = in.leaves({"x"});
  const Tensor x = leaves[0].tensor;
  const float chance = in.number("chance");
  return both_ways(leaves, in.at("dy"), [=, step = uint64_t{0}]() mutable {
    const TrainingScope training(Rng(1, ++step << 32));
    return dropout(x, chance);
  });
}

Case cross_entropy_case(const Inputs& in) {
  const auto leaves = in.leaves({"x"});
  const CrossEntropyOptions options{.label_smoothing = in.number("smoothing")};
  return both_ways(leaves, Tensor::full({}, 1.0f),
                   [=, x = leaves[0].tensor, targets = in.at("targets")] {
                     return cross_entropy(x, targets, options);
                   });
}

const Kind layer_norm_kind("layer_norm", layer_norm_case);
const Kind dropout_kind("dropout", dropout_case);
const Kind cross_entropy_kind("cross_entropy", cross_entropy_case);

}  // namespace
}  // namespace attend::peers
