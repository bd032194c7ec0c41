// The tape: what each tensor was computed from, and how gradients flow back.
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
// A gradient function that needs the output captures y.detach(): capturing y would be a reference
// cycle.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <utility>

#include "attend/tensor/tensor.h"

namespace attend {

// Where to write the gradient of an input: overwrite the tensor, or add to it where `add` is true.
// The first contribution overwrites, later ones add.
struct Gradient {
  Tensor tensor;  // has the input's shape; a view where the input is one
  bool add;

  // Of the tensor.
  float* data() const { return tensor.data(); }
};

// The gradient of a table [rows, width] of which few rows occurred: values[i], of [n, width],
// belongs to row ids[i]. Where there are factors, it is factors[i] values[sources[i]], with any
// number of values. A row that occurs more than once has the sum, in this order.
struct RowGradient {
  Tensor ids;      // int32 [n]
  Tensor values;   // [n, width]
  Tensor factors;  // [n], or undefined
  Tensor sources;  // int32 [n], or undefined

  bool defined() const { return ids.defined(); }
};

// What a gradient function is given during backward().
class Grads {
 public:
  // Whether the gradient of x is needed. An op with several inputs asks for each.
  bool wants(const Tensor& x) const { return x.needs_grad(); }

  // Where the gradient of x belongs. The caller must write all of it before it asks for another.
  Gradient of(const Tensor& x);

  // The same for a kernel that always adds: new memory is filled with zeros.
  float* accumulator(const Tensor& x);

  // Adds `dx` to the gradient of x, for an op that passes a gradient through unchanged. Shares the
  // memory of dx where it can.
  void pass(const Tensor& x, const Tensor& dx);

  // Adds rows to the gradient of x, a table [rows, width]. Those of a leaf are kept as they are,
  // without memory for the other rows, until something else is added. Nobody writes to them.
  void rows(const Tensor& x, const RowGradient& dx);
};

// Computes the gradients of an op's inputs from `dy`, that of its output.
using Backward = std::function<void(const Tensor& dy, Grads& grads)>;

// Records on the tape that y, new and contiguous, was computed from `inputs`, and returns y. Does
// nothing if no input needs a gradient, or inside NoGrad.
template <typename F>
Tensor record(Tensor y, std::span<const Tensor> inputs, F&& backward);
template <typename F>
Tensor record(Tensor y, std::initializer_list<Tensor> inputs, F&& backward);

// The same even if no input needs a gradient, for a function that captures parameters.
Tensor record_always(Tensor y, std::span<const Tensor> inputs, Backward backward);

// Runs the tape from `y` to the leaves, in the reverse order of recording, and frees it on the way.
// `seed` is the gradient of y; by default it is 1, for a y of one element.
void backward(const Tensor& y);
void backward(const Tensor& y, const Tensor& seed);

// The gradient of a leaf to which nothing but rows was added; otherwise undefined. Tensor::grad()
// gives that of the whole table, and keeps it.
RowGradient row_gradient(const Tensor& leaf);
// Adds rows to a gradient of a whole table, in order.
void add_rows(const RowGradient& rows, const Tensor& gradient);
// The same without factors.
RowGradient without_factors(const RowGradient& rows);
// Both, one after the other; either may be undefined.
RowGradient joined(const RowGradient& first, const RowGradient& second);

// Ops record nothing in this thread while a NoGrad lives.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

// Whether ops of this thread record: there is no NoGrad.
bool grad_enabled();
// Whether one needs a gradient and gradients are enabled.
bool any_needs_grad(std::span<const Tensor> inputs);

// function(inputs), with inner values that are not kept but recomputed for the gradient (Chen et
// al., 2016). Parameters that the function captures get their gradients as usual. In training it
// sees the same random numbers both times.
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
