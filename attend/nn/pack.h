// Weights laid out once for all matrix products.
#pragma once

#include <map>
#include <memory>

#include "attend/nn/visit.h"

namespace attend {
namespace detail {
class Packer : public Visitor {
 private:
  void on_parameter(const std::string& /*path*/, Tensor& /*parameter*/) override {}
  void on_weight(const std::string& /*path*/, Weight& weight) override {
    if (!weight.value.defined()) return;
    const auto [found, first] = done_.try_emplace(weight.value.storage());
    if (first) {
      found->second =
          kernels::PackedMatrix::from_columns(weight.in(), weight.out(), weight.value.storage());
    }
    weight.packed = found->second;
    weight.value = Tensor();
  }

  std::map<std::shared_ptr<Storage>, kernels::PackedMatrix> done_;  // layers may share a weight
};
}  // namespace detail

// Packs the weights of linear layers and embeddings, in place. A product with few rows then reads
// them twice as fast, with the same bits. Afterwards the module can be called, but not trained or
// saved: packed weights are no longer parameters.
template <typename Module>
void pack_weights(Module& module) {
  detail::Packer packer;
  module.visit(packer);
}

}  // namespace attend
