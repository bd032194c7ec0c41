// Self-attention without parameters: a sequence against itself is the op itself.
#include <gtest/gtest.h>

#include <cmath>

#include "attend/attention/attention.h"
#include "tests/attention/modules.h"

namespace attend {
namespace {

struct Nothing {
  void visit(Visitor&) {}
};

// softmax(x x' / sqrt(width)) x
std::vector<float> self_attention_by_definition(const Tensor& x) {
  const size_t n = x.rows(), width = x.width();
  std::vector<float> y(n * width, 0.0f);
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> weights(n);
    double total = 0.0;
    for (size_t j = 0; j < n; ++j) {
      double s = 0.0;
      for (size_t c = 0; c < width; ++c) {
        s += double{x.data()[i * width + c]} * x.data()[j * width + c];
      }
      total += weights[j] = std::exp(s / std::sqrt(static_cast<double>(width)));
    }
    for (size_t j = 0; j < n; ++j) {
      for (size_t c = 0; c < width; ++c) {
        y[i * width + c] += static_cast<float>(weights[j] / total) * x.data()[j * width + c];
      }
    }
  }
  return y;
}

TEST(SelfAttention, WithoutParametersIsTheOp) {
  const Tensor x = random_tensor({6, 5}, 1);
  const Attended y = attention(x, x, x);
  EXPECT_EQ(y.path, AttentionPath::kFused);
  expect_values(y.output, self_attention_by_definition(x), 1e-5f);
}

// All three uses of x give it a gradient.
TEST(SelfAttention, WithoutParametersHasItsGradient) {
  for (const bool plain : {false, true}) {
    Nothing nothing;
    Tensor x = random_tensor({5, 4}, 2);
    expect_gradients(nothing, x, [&] { return attention(x, x, x, {.plain = plain}).output; });
  }
}

}  // namespace
}  // namespace attend
