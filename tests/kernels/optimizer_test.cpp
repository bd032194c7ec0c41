#include "attend/kernels/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {
namespace {

// Tensors of odd sizes, off any alignment, one of them empty and one longer than a chunk.
const size_t kParameterSizes[] = {1, 7, 0, 64, 1001, 40000};

struct Parameters {
  Parameters() {
    for (const size_t size : kParameterSizes) {
      const uint64_t id = tensors.size();
      parameter.push_back(numbers(size, 4 * id, 1.0f));
      gradient.push_back(numbers(size, 4 * id + 1, 0.1f));
      m.emplace_back(size + 1, 0.0f);
      v.emplace_back(size + 1, 0.0f);
      tensors.push_back({.parameter = parameter.back().data() + 1,
                         .gradient = gradient.back().data() + 1,
                         .m = m.back().data() + 1,
                         .v = v.back().data() + 1,
                         .size = size,
                         .weight_decay = 0.1f * static_cast<float>(id % 3),
                         .rate_scale = 1.0f + static_cast<float>(id % 2)});
    }
  }
  static std::vector<float> numbers(size_t size, uint64_t stream, float deviation) {
    std::vector<float> x(size + 1);
    fill_normal(x, RandomStream(21, stream), 0.0f, deviation);
    return x;
  }

  std::vector<std::vector<float>> parameter, gradient, m, v;
  std::vector<OptimizerTensor> tensors;
};

// Parameters and state of all tensors in double, updated by update(tensor, p, g, m, v)
// element-wise.
struct OptimizerReference {
  explicit OptimizerReference(const Parameters& from)
      : p(copy(from.parameter)), m(copy(from.m)), v(copy(from.v)), gradient(copy(from.gradient)) {}

  template <typename Update>
  void step(const Parameters& from, const Update& update) {
    for (size_t t = 0; t < p.size(); ++t) {
      for (size_t i = 1; i < p[t].size(); ++i) {
        update(from.tensors[t], p[t][i], gradient[t][i], m[t][i], v[t][i]);
      }
    }
  }
  void expect_near(const Parameters& actual) const {
    for (size_t t = 0; t < p.size(); ++t) {
      for (size_t i = 0; i < p[t].size(); ++i) {
        ASSERT_NEAR(actual.parameter[t][i], p[t][i], 3e-6 * (1 + std::abs(p[t][i])))
            << t << ", " << i;
        ASSERT_NEAR(actual.m[t][i], m[t][i], 1e-6 * (1 + std::abs(m[t][i]))) << t << ", " << i;
        ASSERT_NEAR(actual.v[t][i], v[t][i], 1e-6 * (1 + std::abs(v[t][i]))) << t << ", " << i;
      }
    }
  }

  using Values = std::vector<std::vector<double>>;
  static Values copy(const std::vector<std::vector<float>>& from) {
    Values values;
    for (const auto& x : from) values.emplace_back(x.begin(), x.end());
    return values;
  }
  Values p, m, v, gradient;
};

TEST(Adam, FollowsItsEquations) {
  for_each_target([] {
    for (const bool decoupled : {true, false}) {
      Parameters parameters;
      OptimizerReference reference(parameters);
      AdamOptions options{
          .rate = 0.01, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .decoupled = decoupled};
      options.gradient_scale = 0.5f;
      for (options.step = 1; options.step <= 3; ++options.step) {
        adam(parameters.tensors, options);
        reference.step(parameters, [&](const OptimizerTensor& t, double& p, double g, double& m,
                                       double& v) {
          const double rate = options.rate * t.rate_scale, n = static_cast<double>(options.step);
          g *= options.gradient_scale;
          if (decoupled) {
            p -= rate * t.weight_decay * p;
          } else {
            g += t.weight_decay * p;
          }
          m = options.beta1 * m + (1 - options.beta1) * g;
          v = options.beta2 * v + (1 - options.beta2) * g * g;
          const double m_hat = m / (1 - std::pow(options.beta1, n));
          const double v_hat = v / (1 - std::pow(options.beta2, n));
          p -= rate * m_hat / (std::sqrt(v_hat) + options.epsilon);
        });
      }
      reference.expect_near(parameters);
    }
  });
}

// torch 2.13: p = [1, -2, 3], gradients [0.1, -0.2, 0.3] each step, lr 0.1, weight_decay 0.5, 3
// steps of AdamW, Adam, and SGD (momentum 0.9, nesterov).
TEST(Optimizers, GivePyTorchsNumbers) {
  const auto run = [](auto&& update) {
    std::vector<float> p = {1, -2, 3}, g = {0.1f, -0.2f, 0.3f}, m(3), v(3);
    const OptimizerTensor tensor{p.data(), g.data(), m.data(), v.data(), 3, 0.5f};
    for (int step = 1; step <= 3; ++step) update(std::span(&tensor, 1), step);
    return p;
  };
  const auto expect = [](const std::vector<float>& actual, const std::vector<float>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-6);
  };
  using Tensors = std::span<const OptimizerTensor>;
  expect(run([](Tensors t, int64_t step) { adam(t, {.rate = 0.1, .step = step}); }),
         {0.5721250f, -1.4294999f, 2.2868750f});
  expect(run([](Tensors t, int64_t step) {
           adam(t, {.rate = 0.1, .decoupled = false, .step = step});
         }),
         {0.7012228f, -1.7004979f, 2.7003088f});
  expect(run([](Tensors t, int64_t) { sgd(t, {.rate = 0.1, .momentum = 0.9, .nesterov = true}); }),
         {0.5577552f, -1.1155103f, 1.6732656f});
}

TEST(Sgd, FollowsItsEquations) {
  struct Variant {
    double momentum;
    bool nesterov;
  };
  for_each_target([] {
    for (const Variant variant : {Variant{0.0, false}, {0.9, false}, {0.9, true}}) {
      Parameters parameters;
      OptimizerReference reference(parameters);
      const SgdOptions options{0.05, variant.momentum, variant.nesterov, 2.0f};
      for (int step = 0; step < 3; ++step) {
        sgd(parameters.tensors, options);
        reference.step(parameters,
                       [&](const OptimizerTensor& t, double& p, double g, double& m, double&) {
                         g = options.gradient_scale * g + t.weight_decay * p;
                         if (options.momentum != 0) {
                           m = options.momentum * m + g;
                           g = options.nesterov ? g + options.momentum * m : m;
                         }
                         p -= options.rate * t.rate_scale * g;
                       });
      }
      reference.expect_near(parameters);
    }
  });
}

TEST(Optimizers, LeaveTensorsWithoutGradientAlone) {
  std::vector<float> frozen = {1, 2, 3}, moving = {1, 2, 3}, gradient = {1, 1, 1}, m(3), v(3);
  const std::vector<OptimizerTensor> tensors = {
      {frozen.data(), nullptr, m.data(), v.data(), 3, 0.5f},
      {moving.data(), gradient.data(), m.data(), v.data(), 3}};
  adam(tensors, {});
  sgd(tensors, {});
  EXPECT_EQ(frozen, (std::vector<float>{1, 2, 3}));
  EXPECT_LT(moving[0], 1.0f);
  EXPECT_NEAR(gradient_norm(tensors), std::sqrt(3.0), 1e-12);
}

TEST(GradientNorm, SumsInDouble) {
  for_each_target([] {
    const Parameters parameters;
    double sum = 0;
    for (const auto& gradient : parameters.gradient) {
      for (size_t i = 1; i < gradient.size(); ++i) sum += double{gradient[i]} * gradient[i];
    }
    EXPECT_NEAR(gradient_norm(parameters.tensors), std::sqrt(sum), 1e-10);
  });
  EXPECT_EQ(gradient_norm({}), 0.0);
  // Squares far beyond fp32, and beside them.
  std::vector<float> large = {3e38f, 1e-30f, 3e38f};
  const OptimizerTensor tensor{large.data(), large.data(), nullptr, nullptr, large.size()};
  EXPECT_NEAR(gradient_norm({&tensor, 1}) / (3e38 * std::sqrt(2.0)), 1.0, 1e-6);
}

TEST(GradientNorm, IsNotFiniteWhenAGradientIsNot) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const size_t place : {size_t{0}, size_t{511}, size_t{1000}}) {
      std::vector<float> gradient(1001, 0.5f);
      gradient[place] = bad;
      const OptimizerTensor tensor{gradient.data(), gradient.data(), nullptr, nullptr,
                                   gradient.size()};
      EXPECT_FALSE(std::isfinite(gradient_norm({&tensor, 1})));
    }
  }
}

TEST(GradientNorm, ClipScaleBoundsTheNorm) {
  EXPECT_EQ(clip_scale(0.0, 1.0), 1.0f);
  EXPECT_EQ(clip_scale(0.9, 1.0), 1.0f);
  EXPECT_NEAR(clip_scale(4.0, 1.0), 0.25f, 1e-6);
}

TEST(Optimizers, SameBitsForAnyNumberOfThreads) {
  const auto run = [](int threads) {
    const ThreadCountScope scope(threads);
    Parameters parameters;
    const double norm = gradient_norm(parameters.tensors);
    adam(parameters.tensors, {.gradient_scale = clip_scale(norm, 0.5)});
    sgd(parameters.tensors, {.momentum = 0.9});
    return std::pair(parameters.parameter, norm);
  };
  EXPECT_EQ(run(1), run(2));
  EXPECT_EQ(run(1), run(4));
}

}  // namespace
}  // namespace attend::kernels
