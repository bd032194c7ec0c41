// The tape: what each tensor was made from, and how a gradient flows back.
//
//   Tensor gelu(const Tensor& x) {
//     Tensor y = Tensor::like(x);
//     kernels::gelu(x.data(), y.data(), x.size());
//     return record(y, {x}, [x](const Tensor& dy, Grads& grads) {
//       Gradient dx = grads.of(x);
//       kernels::gelu_backward(x.data(), dy.data(), dx.data(), x.size(), dx.add);
//     });
//   }
//
// A gradient that needs the output captures y.detach(), so that nothing refers to itself.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <utility>

#include "attend/tensor/tensor.h"

namespace attend {

// Where the gradient of an input goes. The first contribution overwrites, the others add.
struct Gradient {
  Tensor tensor;  // shaped like the input, a view where the input is one
  bool add;

  float* data() const { return tensor.data(); }
};

// What a gradient function sees of the pass under way.
class Grads {
 public:
  // Whether anybody wants the gradient of x. Ask when an op has several inputs.
  bool wants(const Tensor& x) const { return x.needs_grad(); }

  // The place for the gradient of x, to be written at once, whole, or added to as `add` says.
  Gradient of(const Tensor& x);

  // The same for a kernel that always adds: a fresh place is filled with zeros.
  float* accumulator(const Tensor& x);

  // The gradient of x is `dx`, or gets it added: what an op does that hands its gradient through.
  // Shares the memory of dx where it can.
  void pass(const Tensor& x, const Tensor& dx);
};

using Backward = std::function<void(const Tensor& dy, Grads& grads)>;

// Notes on the tape that y, contiguous and fresh, was made from `inputs`; returns y. Does nothing
// when no input needs a gradient or inside NoGrad.
template <typename F>
Tensor record(Tensor y, std::span<const Tensor> inputs, F&& backward);
template <typename F>
Tensor record(Tensor y, std::initializer_list<Tensor> inputs, F&& backward);

// The same whether an input needs a gradient or not, for a function that holds parameters of its
// own.
Tensor record_always(Tensor y, std::span<const Tensor> inputs, Backward backward);

// Runs the tape from `y` to the leaves, in the reverse order of recording, and frees it on the way.
// `seed` is the gradient of y, by default one for a y of one element.
void backward(const Tensor& y);
void backward(const Tensor& y, const Tensor& seed);

// While one lives in a thread, ops of that thread record nothing.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

bool grad_enabled();
bool any_needs_grad(std::span<const Tensor> inputs);  // and gradients are enabled

// The value of function(inputs), whose inner values are not kept but computed again for the
// gradient (Chen et al., 2016). Parameters the function captures get their gradients as usual;
// inside training it sees the same random numbers both times.
Tensor checkpoint(std::function<Tensor(std::span<const Tensor>)> function,
                  std::vector<Tensor> inputs);

template <typename F>
Tensor record(Tensor y, std::span<const Tensor> inputs, F&& backward) {
  if (!any_needs_grad(inputs)) return y;
  return record_always(std::move(y), inputs, Backward(std::forward<F>(backward)));
}

template <typename F>
Tensor record(Tensor y, std::initializer_list<Tensor> inputs, F&& backward) {
  return record(std::move(y), std::span(inputs.begin(), inputs.size()), std::forward<F>(backward));
}

}  // namespace attend
