// Parameters that are only read.
#pragma once

#include "attend/nn/visit.h"

namespace attend {

namespace detail {
class Freezer : public Visitor {
  void on_parameter(const std::string& /*path*/, Tensor& parameter) override {
    parameter = parameter.detach();
  }
};
}  // namespace detail

// No parameter of the module takes a gradient from now on: gradients flow through it to its inputs
// alone.
template <typename Module>
void freeze(Module& module) {
  detail::Freezer freezer;
  module.visit(freezer);
}

}  // namespace attend
