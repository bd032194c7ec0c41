// How a module lists its parts. From that one list, parameters are named, counted, saved, loaded,
// optimised, frozen and packed.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attend/nn/weight.h"
#include "attend/tensor/named.h"

namespace attend {

// A module is a plain struct with `void visit(Visitor& v)` that calls v(name, part) for each
// parameter, weight, module, or vector of modules in it, and v.buffer(name, tensor) for tensors
// that are saved but not trained.
class Visitor {
 public:
  virtual ~Visitor() = default;

  // Called by modules for each of their parts. Undefined tensors are skipped; the names of nested
  // modules are joined by dots.
  void operator()(const std::string& name, Tensor& parameter) {
    if (parameter.defined()) on_parameter(path_ + name, parameter);
  }
  void operator()(const std::string& name, Weight& weight) {
    if (weight.defined()) on_weight(path_ + name, weight);
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
  // What is done with each, under its dotted path. A weight is a parameter, and a buffer nothing,
  // unless these are overridden.
  virtual void on_parameter(const std::string& path, Tensor& parameter) = 0;
  virtual void on_weight(const std::string& path, Weight& weight) {
    if (weight.value.defined()) on_parameter(path, weight.value);
    if (weight.change == nullptr) return;
    on_parameter(path + ".lora_down", weight.change->down);
    on_parameter(path + ".lora_up", weight.change->up);
  }
  virtual void on_buffer(const std::string& /*path*/, Tensor& /*buffer*/) {}

 private:
  std::string path_;
};

namespace detail {
class Collector : public Visitor {
 public:
  struct What {
    bool parameters = false, buffers = false;
  };
  explicit Collector(What what) : what_(what) {}
  std::vector<NamedTensor> found;

 private:
  void on_parameter(const std::string& path, Tensor& parameter) override {
    if (what_.parameters) add(path, parameter);
  }
  void on_buffer(const std::string& path, Tensor& buffer) override {
    if (what_.buffers) add(path, buffer);
  }
  void add(const std::string& path, const Tensor& tensor) {
    if (seen_.insert(tensor.storage().get()).second) found.push_back({path, tensor});
  }

  What what_;
  std::unordered_set<const Storage*> seen_;
};

template <typename Module>
std::vector<NamedTensor> collect(Module& module, Collector::What what) {
  Collector collector(what);
  module.visit(collector);
  return std::move(collector.found);
}
}  // namespace detail

// The parameters of a module in the order of its visit, each under its dotted path. A parameter
// that several parts share is listed once, under its first path.
template <typename Module>
std::vector<NamedTensor> parameters(Module& module) {
  return detail::collect(module, {.parameters = true});
}

// The same for buffers.
template <typename Module>
std::vector<NamedTensor> buffers(Module& module) {
  return detail::collect(module, {.buffers = true});
}

// Both: everything that is saved and loaded.
template <typename Module>
std::vector<NamedTensor> parameters_and_buffers(Module& module) {
  return detail::collect(module, {.parameters = true, .buffers = true});
}

// Elements of all parameters, shared ones counted once.
template <typename Module>
size_t parameter_count(Module& module) {
  size_t count = 0;
  for (const NamedTensor& p : parameters(module)) count += p.tensor.size();
  return count;
}

// Removes the gradients of all parameters.
template <typename Module>
void clear_grads(Module& module) {
  for (const NamedTensor& p : parameters(module)) p.tensor.clear_grad();
}

}  // namespace attend
