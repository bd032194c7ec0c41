// How a module lists its parts, once. From that list parameters are named, counted, initialised,
// saved, loaded, optimised, frozen and drawn.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attend/kernels/gemm.h"
#include "attend/tensor/named.h"
#include "attend/tensor/tensor.h"

namespace attend {

// A module is a plain struct with `void visit(Visitor& v)` that calls v(name, part) for each
// parameter, module, or vector of modules in it, and v.buffer(name, tensor) for what is saved but
// not trained.
class Visitor {
 public:
  virtual ~Visitor() = default;

  void operator()(const std::string& name, Tensor& parameter) {
    if (parameter.defined()) on_parameter(path_ + name, parameter);
  }
  // A parameter [out, in], of a layer that can do with `packed` instead.
  void matrix(const std::string& name, Tensor& parameter, kernels::PackedMatrix& packed) {
    if (parameter.defined()) on_matrix(path_ + name, parameter, packed);
  }
  void buffer(const std::string& name, Tensor& tensor) {
    if (tensor.defined()) on_buffer(path_ + name, tensor);
  }
  template <typename Module>
  requires requires(Module& m, Visitor& v) { m.visit(v); }
  void operator()(const std::string& name, Module& module) {
    const std::string before = std::exchange(path_, path_ + name + ".");
    module.visit(*this);
    path_ = before;
  }
  template <typename Module>
  void operator()(const std::string& name, std::vector<Module>& modules) {
    for (size_t i = 0; i < modules.size(); ++i) (*this)(name + "." + std::to_string(i), modules[i]);
  }

 protected:
  virtual void on_parameter(const std::string& path, Tensor& parameter) = 0;
  virtual void on_matrix(const std::string& path, Tensor& parameter, kernels::PackedMatrix&) {
    on_parameter(path, parameter);
  }
  virtual void on_buffer(const std::string& /*path*/, Tensor& /*buffer*/) {}

 private:
  std::string path_;
};

namespace detail {
class Collector : public Visitor {
 public:
  explicit Collector(bool buffers) : buffers_(buffers) {}
  std::vector<NamedTensor> found;

 private:
  void on_parameter(const std::string& path, Tensor& parameter) override {
    if (!buffers_) add(path, parameter);
  }
  void on_buffer(const std::string& path, Tensor& buffer) override {
    if (buffers_) add(path, buffer);
  }
  void add(const std::string& path, const Tensor& tensor) {
    if (seen_.insert(tensor.storage().get()).second) found.push_back({path, tensor});
  }

  bool buffers_;
  std::unordered_set<const Storage*> seen_;
};
}  // namespace detail

// The parameters of a module in the order of its visit, each under its dotted path. A parameter
// that several parts share is listed once, under its first path.
template <typename Module>
std::vector<NamedTensor> parameters(Module& module) {
  detail::Collector collector(false);
  module.visit(collector);
  return std::move(collector.found);
}

template <typename Module>
std::vector<NamedTensor> buffers(Module& module) {
  detail::Collector collector(true);
  module.visit(collector);
  return std::move(collector.found);
}

template <typename Module>
size_t parameter_count(Module& module) {
  size_t count = 0;
  for (const NamedTensor& p : parameters(module)) count += p.tensor.size();
  return count;
}

template <typename Module>
void clear_grads(Module& module) {
  for (const NamedTensor& p : parameters(module)) p.tensor.clear_grad();
}

}  // namespace attend
