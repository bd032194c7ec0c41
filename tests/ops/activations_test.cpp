#include "attend/ops/activations.h"

#include <cmath>
#include <numbers>

#include "tests/ops/op_case.h"

namespace attend {
namespace {

using plain::Plain;

OpCase activation_case(const char* name, Activation f, double (*twin)(double)) {
  return {.name = name,
          .shapes = {{{4, 9}}, {{1, 1}}, {{0, 3}}, {{2, 2, 5}}},
          .op = [f](const std::vector<Tensor>& in) { return activate(f, in[0]); },
          .plain = [twin](const std::vector<Plain>& in) { return map(in[0], twin); },
          .large = {{777, 333}},
          .low = -6.0,
          .high = 6.0};
}

double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }

const RegisterOps kActivationsCases({
    activation_case("Identity", Activation::kIdentity, [](double x) { return x; }),
    activation_case("Relu", Activation::kRelu, [](double x) { return x > 0 ? x : 0; }),
    activation_case("Gelu", Activation::kGelu,
                    [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }),
    activation_case("GeluTanh", Activation::kGeluTanh,
                    [](double x) {
                      const double inner =
                          std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
                      return 0.5 * x * (1 + std::tanh(inner));
                    }),
    activation_case("Silu", Activation::kSilu, [](double x) { return x * sigmoid_of(x); }),
    activation_case("Tanh", Activation::kTanh, [](double x) { return std::tanh(x); }),
    activation_case("Sigmoid", Activation::kSigmoid, sigmoid_of),
    activation_case("Softplus", Activation::kSoftplus,
                    [](double x) { return std::log1p(std::exp(x)); }),
    activation_case("Exp", Activation::kExp, [](double x) { return std::exp(x); }),
});

}  // namespace
}  // namespace attend
