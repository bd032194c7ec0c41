// `attend check`: runs the main kernels on this machine and compares them with plain loops.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/kernels/activations.h"
#include "attend/kernels/cross_entropy.h"
#include "attend/kernels/dropout.h"
#include "attend/kernels/embedding.h"
#include "attend/kernels/gates.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/layer_norm.h"
#include "attend/kernels/optimizer.h"
#include "attend/kernels/softmax.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

using Values = std::vector<float>;

Values numbers(size_t size, uint64_t stream) {
  Values x(size);
  fill_normal(x, RandomStream(2026, stream), 0.0f, 1.0f);
  return x;
}

// The largest difference from expected(i), relative to 1 + its size; NaN is infinitely wrong.
template <typename Expected>
double largest_error(const Values& actual, const Expected& expected) {
  double largest = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double value = expected(i), error = std::abs(actual[i] - value) / (1 + std::abs(value));
    largest = std::isnan(error) ? HUGE_VAL : std::max(largest, error);
  }
  return largest;
}

double check_philox() {
  using Block = std::array<uint32_t, 4>;
  const Block known = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  return philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) == known ? 0.0 : 1.0;
}

double check_gemm(bool a_transposed, bool b_transposed) {
  constexpr size_t kM = 67, kN = 131, kK = 259;
  const Values a = numbers(kM * kK, 1), b = numbers(kK * kN, 2), bias = numbers(kN, 3);
  Values c(kM * kN);
  const kernels::Matrix left{a.data(), a_transposed ? kM : kK, a_transposed};
  const kernels::Matrix right{b.data(), b_transposed ? kK : kN, b_transposed};
  kernels::gemm(kM, kN, kK, left, right, {c.data(), kN}, {.bias = bias.data()});
  return largest_error(c, [&](size_t at) {
    const size_t i = at / kN, j = at % kN;
    double sum = bias[j];
    for (size_t k = 0; k < kK; ++k) {
      sum += double{a[a_transposed ? k * kM + i : i * kK + k]} *
             b[b_transposed ? j * kK + k : k * kN + j];
    }
    return sum;
  });
}

double check_activation(kernels::Activation activation, double (*f)(double)) {
  const Values x = numbers(1003, 4);
  Values y(x.size());
  kernels::activate(activation, x.data(), y.data(), x.size());
  return largest_error(y, [&](size_t i) { return f(x[i]); });
}

constexpr size_t kRows = 7, kWidth = 131;

// The log of the sum of e^x over row i.
double log_sum(const Values& x, size_t i) {
  double sum = 0;
  for (size_t j = 0; j < kWidth; ++j) sum += std::exp(double{x[i * kWidth + j]});
  return std::log(sum);
}

double check_softmax() {
  const Values x = numbers(kRows * kWidth, 13);
  Values y(x.size());
  kernels::softmax(kernels::dense_rows(x.data(), kRows, kWidth),
                   kernels::dense_rows(y.data(), kRows, kWidth));
  return largest_error(y, [&](size_t at) { return std::exp(x[at] - log_sum(x, at / kWidth)); });
}

double check_cross_entropy() {
  const Values x = numbers(kRows * kWidth, 14);
  const std::vector<int32_t> targets = {0, 1, 2, 3, 4, 5, 130};
  Values loss(kRows), lse(kRows);
  kernels::cross_entropy(kernels::dense_rows(x.data(), kRows, kWidth), targets.data(), 0.0f,
                         loss.data(), lse.data());
  return largest_error(loss, [&](size_t i) {
    return log_sum(x, i) - x[i * kWidth + static_cast<size_t>(targets[i])];
  });
}

double check_layer_norm() {
  const Values x = numbers(kRows * kWidth, 15);
  Values y(x.size());
  kernels::layer_norm(kernels::dense_rows(x.data(), kRows, kWidth), {},
                      kernels::dense_rows(y.data(), kRows, kWidth), nullptr, nullptr);
  return largest_error(y, [&](size_t at) {
    const float* row = x.data() + at / kWidth * kWidth;
    double mean = 0, variance = 0;
    for (size_t j = 0; j < kWidth; ++j) mean += row[j] / double{kWidth};
    for (size_t j = 0; j < kWidth; ++j)
      variance += (row[j] - mean) * (row[j] - mean) / double{kWidth};
    return (x[at] - mean) / std::sqrt(variance + 1e-5);
  });
}

double check_dropout() {
  const Values x = numbers(1003, 5);
  Values y(x.size());
  const kernels::Dropout options{0.3f, RandomStream(1, 2)};
  kernels::dropout(x.data(), y.data(), x.size(), options);
  return largest_error(y, [&](size_t i) {
    const size_t group = i / 16 % 4;
    const uint32_t word = philox(1, 8 * (i / 64) + i % 16 / 2, 2)[2 * (group / 2) + i % 2];
    return ((word >> (16 * (group % 2))) & 0xFFFF) < options.threshold() ? x[i] * options.scale()
                                                                         : 0.0f;
  });
}

double check_embedding() {
  constexpr size_t kIds = 200, kVocab = 37;
  std::vector<int32_t> ids(kIds);
  for (size_t i = 0; i < kIds; ++i)
    ids[i] = static_cast<int32_t>(RandomStream(3, 3).below(i, kVocab));
  const Values dy = numbers(kIds * kWidth, 6);
  Values d_table(kVocab * kWidth);
  kernels::embedding_backward({ids, kVocab, kWidth}, dy.data(), d_table.data(), false);
  return largest_error(d_table, [&](size_t at) {
    double sum = 0;
    for (size_t i = 0; i < kIds; ++i) {
      if (static_cast<size_t>(ids[i]) == at / kWidth) sum += dy[i * kWidth + at % kWidth];
    }
    return sum;
  });
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double check_lstm() {
  const Values x = numbers(kRows * 4 * kWidth, 7), c_prev = numbers(kRows * kWidth, 8);
  Values gates = x, c(c_prev.size()), h(c_prev.size());
  kernels::lstm_step({.in = {.rows = kRows, .width = kWidth, .gates = {gates.data(), 4 * kWidth}},
                      .c_prev = {c_prev.data(), kWidth},
                      .c = {c.data(), kWidth},
                      .out = {.y = {h.data(), kWidth}}});
  return largest_error(h, [&](size_t at) {
    const float* row = x.data() + at / kWidth * 4 * kWidth + at % kWidth;
    const double i = sigmoid(row[0]), f = sigmoid(row[kWidth]), g = std::tanh(row[2 * kWidth]);
    return sigmoid(row[3 * kWidth]) * std::tanh(f * c_prev[at] + i * g);
  });
}

double check_adamw() {
  const Values before = numbers(1003, 9), gradient = numbers(1003, 10);
  Values parameter = before, m(before.size()), v(before.size());
  const kernels::OptimizerTensor tensor{parameter.data(), gradient.data(), m.data(),
                                        v.data(),         before.size(),   0.1f};
  kernels::adam({&tensor, 1}, {.rate = 0.01});
  // At the first step the corrected averages are the gradient and its square.
  return largest_error(parameter, [&](size_t i) {
    const double g = gradient[i];
    return before[i] * (1 - 0.01 * 0.1) - 0.01 * g / (std::abs(g) + 1e-8);
  });
}

// The same bits with one thread as with all of them.
double check_threads() {
  const auto run = [](int threads) {
    const ThreadCountScope scope(threads);
    const Values a = numbers(300 * 200, 11), b = numbers(200 * 500, 12);
    Values c(300 * 500);
    kernels::gemm(300, 500, 200, {a.data(), 200}, {b.data(), 500}, {c.data(), 500});
    const kernels::OptimizerTensor tensor{nullptr, c.data(), nullptr, nullptr, c.size()};
    c.push_back(static_cast<float>(kernels::gradient_norm({&tensor, 1})));
    return c;
  };
  return run(1) == run(std::max(2, thread_count())) ? 0.0 : 1.0;
}

struct Check {
  const char* name;
  double tolerance;
  std::function<double()> error;
};

std::vector<Check> checks() {
  using kernels::Activation;
  return {
      {"random numbers", 0.0, check_philox},
      {"matrix product NN", 5e-5, [] { return check_gemm(false, false); }},
      {"matrix product NT", 5e-5, [] { return check_gemm(false, true); }},
      {"matrix product TN", 5e-5, [] { return check_gemm(true, false); }},
      {"exp", 1e-6, [] { return check_activation(Activation::kExp, std::exp); }},
      {"tanh", 1e-6, [] { return check_activation(Activation::kTanh, std::tanh); }},
      {"sigmoid", 1e-6, [] { return check_activation(Activation::kSigmoid, sigmoid); }},
      {"softmax", 1e-6, check_softmax},
      {"cross-entropy", 1e-5, check_cross_entropy},
      {"layer norm", 1e-5, check_layer_norm},
      {"dropout", 0.0, check_dropout},
      {"embedding gradient", 1e-5, check_embedding},
      {"LSTM gates", 1e-6, check_lstm},
      {"AdamW", 1e-6, check_adamw},
      {"same bits on all threads", 0.0, check_threads},
  };
}

int run_checks() {
  fmt::print("{}\n{}\n", version(), machine_summary());
  int failed = 0;
  for (const Check& check : checks()) {
    const double error = check.error();
    const bool ok = error <= check.tolerance;
    if (!ok) ++failed;
    fmt::print("  {:<26} {:<8} error {:.1e}, allowed {:.0e}\n", check.name, ok ? "ok" : "FAILED",
               error, check.tolerance);
  }
  if (failed > 0) fmt::print(stderr, "attend: {} checks failed\n", failed);
  return failed > 0 ? 1 : 0;
}

}  // namespace

Command add_check(CLI::App& app) {
  return {app.add_subcommand("check", "Check that the library computes correctly on this machine"),
          run_checks};
}

}  // namespace attend::cli
