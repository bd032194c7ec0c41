// Self-attention does not know the order of its rows: permute the input, and the output is permuted
// likewise. A bias by distance tells it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/attention/bias.h"

using namespace attend;

constexpr size_t kRows = 6, kWidth = 8, kHeads = 2;
const std::vector<size_t> kOrder{4, 2, 0, 5, 1, 3};

Tensor permuted(const Tensor& x) {
  std::vector<float> rows;
  for (const size_t row : kOrder) {
    const float* from = x.data() + row * x.width();
    rows.insert(rows.end(), from, from + x.width());
  }
  return Tensor::of(rows, x.shape());
}

// How far attention of the permuted rows is from the permuted attention of the rows.
float apart(const Tensor& x, const AttentionOptions& options) {
  const Tensor moved = permuted(x);
  const Tensor a = attention(moved, moved, moved, options).output;
  const Tensor b = permuted(attention(x, x, x, options).output);
  float most = 0.0f;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

int main() {
  const Tensor x = Tensor::empty({kRows, kWidth});
  fill_normal(x.span(), RandomStream(1, 0), 0.0f, 1.0f);

  AttentionOptions options{.heads = kHeads};
  fmt::print("without positions, equivariant: {}\n", apart(x, options) < 1e-5f);
  options.relative = alibi(kHeads, kRows);
  fmt::print("with ALiBi, equivariant: {}\n", apart(x, options) < 1e-5f);
  options.relative = {};
  options.mask.causal = true;
  fmt::print("with a causal mask, equivariant: {}\n", apart(x, options) < 1e-5f);
}

// Prints:
// without positions, equivariant: true
// with ALiBi, equivariant: false
// with a causal mask, equivariant: false
