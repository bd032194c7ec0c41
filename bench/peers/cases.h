// Our side of a comparison: kinds of cases, made from the arrays that compare.py hands over. A kind
// is one function and one line that registers it, in the file of its family under cases/.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "attend/nn/visit.h"
#include "attend/tensor/tensor.h"

namespace attend::peers {

// The arrays of a case by name, shared with the peer; tensors made from them are copies.
class Inputs {
 public:
  void add(const std::string& name, const Tensor& array) { arrays_[name] = array; }

  const Tensor& at(const std::string& name) const;  // throws ConfigError when there is none
  bool has(const std::string& name) const { return arrays_.contains(name); }
  float number(const std::string& name) const { return at(name).item(); }
  std::vector<int32_t> integers(const std::string& name) const;
  // An array that gets a gradient.
  NamedTensor leaf(const std::string& name) const {
    return {name, Tensor(at(name)).require_grad()};
  }
  std::vector<NamedTensor> leaves(std::initializer_list<const char*> names) const;

 private:
  std::map<std::string, Tensor> arrays_;
};

// The results compared with the peer's are `step`'s value as y, the gradient of each leaf as
// d_NAME, and what the step changes.
struct Case {
  std::vector<NamedTensor> leaves;        // their gradients are cleared before each step
  std::function<Tensor()> step;           // what is timed
  std::function<void()> prepare = [] {};  // before each step, not timed
  std::vector<NamedTensor> changed = {};  // tensors that the step updates in place
};

// The usual case: `forward`, then backward from the gradient `dy` of its value.
Case both_ways(std::vector<NamedTensor> leaves, const Tensor& dy, std::function<Tensor()> forward);

using Maker = Case (*)(const Inputs&);

std::map<std::string, Maker>& kinds();

struct Kind {
  Kind(const char* name, Maker maker) { kinds()[name] = maker; }
};

}  // namespace attend::peers
