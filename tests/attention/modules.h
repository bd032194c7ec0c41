// Checks that every module with learned parts must pass.
#pragma once

#include <algorithm>

#include "attend/nn/visit.h"
#include "attend/tensor/tape.h"
#include "tests/attention/values.h"

namespace attend {

// Fresh biases and gates are zeros; none should be, or a mistake in one would not show.
template <typename Module>
void randomize(Module& module, float deviation = 0.4f) {
  uint64_t stream = 50;
  for (const NamedTensor& p : parameters(module)) {
    const Tensor values = random_tensor(p.tensor.shape(), stream++, deviation);
    std::ranges::copy(values.span(), p.tensor.data());
  }
}

// Compares with slopes at each element of x, to a fiftieth of the largest, which must not be tiny:
// a part that a loss hardly depends on is compared as closely as the others. Where two steps
// disagree there is a kink, and no gradient to compare with.
template <typename Loss>
void expect_close_gradient(const Tensor& x, const Loss& loss) {
  ASSERT_TRUE(x.grad().defined());
  const std::vector<float> gradient = x.grad().to_vector();
  double largest = 0.0;
  for (const float g : gradient) largest = std::max(largest, std::abs(double{g}));
  EXPECT_GT(largest, 2e-3);
  const double tolerance = 2e-4 + largest / 50.0;
  size_t compared = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double coarse = slope(loss, x.data()[i], 1e-2f), fine = slope(loss, x.data()[i], 5e-3f);
    if (std::abs(coarse - fine) > tolerance) continue;
    ASSERT_NEAR(gradient[i], fine, tolerance) << i;
    ++compared;
  }
  EXPECT_GE(compared, x.size() / 2);
}

// The gradients of run() for the parameters of a module and for its input, by finite differences.
// None may be zero throughout: `visit` lists what the output depends on.
template <typename Module, typename Run>
void expect_gradients(Module& module, Tensor& x, const Run& run) {
  x.require_grad();
  const Tensor y = run();
  const Tensor seed = random_tensor(y.shape(), 99);
  backward(y, seed);
  const auto loss = [&] {
    const NoGrad no_grad;
    const std::vector<float> values = run().to_vector();
    double sum = 0.0;
    for (size_t i = 0; i < values.size(); ++i) sum += double{values[i]} * seed.data()[i];
    return sum;
  };
  std::vector<NamedTensor> all = parameters(module);
  all.push_back({"input", x});
  for (const NamedTensor& p : all) {
    SCOPED_TRACE(p.name);
    expect_close_gradient(p.tensor, loss);
  }
}

inline std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const NamedTensor& t : tensors) names.push_back(t.name);
  return names;
}

// Rows of x, in the given order.
inline Tensor pick_rows(const Tensor& x, const std::vector<size_t>& rows) {
  std::vector<float> values;
  for (const size_t r : rows) {
    values.insert(values.end(), x.data() + r * x.stride(), x.data() + r * x.stride() + x.width());
  }
  return Tensor::of(values, {rows.size(), x.width()});
}

}  // namespace attend
