// Optimiser steps.
#include "attend/train/optimizer.h"

#include <memory>

#include "attend/base/error.h"
#include "attend/tensor/tape.h"
#include "bench/peers/cases.h"

namespace attend::peers {
namespace {

// Arrays p0, p1 ... and their gradients g0, g1 ...
Case adamw_case(const Inputs& in) {
  std::vector<NamedTensor> parameters;
  std::vector<Tensor> gradients;
  for (int i = 0; i < static_cast<int>(in.number("count")); ++i) {
    parameters.push_back(in.leaf(fmt::format("p{}", i)));
    gradients.push_back(in.at(fmt::format("g{}", i)));
  }
  const OptimizerConfig config{.rate = in.number("rate"),
                               .weight_decay = in.number("weight_decay"),
                               .check_finite = false};  // as the peer
  const auto optimizer = std::make_shared<Optimizer>(parameters, config);
  return {.leaves = {},
          .step =
              [optimizer] {
                optimizer->step();
                return Tensor();
              },
          // A fresh gradient for each parameter; step() lets it go.
          .prepare =
              [=] {
                for (size_t i = 0; i < parameters.size(); ++i) {
                  backward(parameters[i].tensor, gradients[i]);
                }
              },
          .changed = parameters};
}

const Kind adamw_kind("adamw", adamw_case);

}  // namespace
}  // namespace attend::peers
