// Parameters that are not trained.
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

// From now on no parameter of the module gets a gradient; gradients still flow through it to its
// inputs.
template <typename Module>
void freeze(Module& module) {
  detail::Freezer freezer;
  module.visit(freezer);
}

}  // namespace attend
