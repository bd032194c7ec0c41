// Training reads a text at once under a causal mask; writing reads it token by token, with the keys
// and values of earlier tokens in a cache. Both compute the same: step t is row t of the masked
// map.
#include <fmt/format.h>

#include <cmath>

#include "attend/attention/recorder.h"
#include "attend/models/gpt.h"
#include "attend/tensor/tape.h"

using namespace attend;

// The largest difference between the numbers of two tensors.
float difference(const Tensor& a, const Tensor& b) {
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.span()[i] - b.span()[i]));
  return most;
}

int main() {
  GptConfig config;
  config.text_vocabulary = 50;
  config.width = 32, config.layers = 2, config.heads = 1;
  config.init = 0.3f;
  Rng rng(1);
  const Gpt model(config, rng);
  const std::vector<int32_t> text = {1, 17, 4, 42, 8};
  const NoGrad no_grad;
  Recorder recorder;

  const Tensor masked = model.logits(Batch(1), one_sequence(text));
  const Tensor map = recorder.heads.front().weights;  // of layer 0
  fmt::print("at once, minus infinity above the diagonal before the softmax:\n");
  for (size_t q = 0; q < text.size(); ++q) {
    for (size_t k = 0; k < text.size(); ++k) {
      fmt::print("{}", map.slice_rows(q, 1).span()[k] > 0 ? " x" : " .");
    }
    fmt::print("\n");
  }

  fmt::print("token by token, one row a step:\n");
  const auto state = model.start(Batch(1));
  for (size_t t = 0; t < text.size(); ++t) {
    recorder.heads.clear();
    const Tensor logits = model.step(*state, std::span(text).subspan(t, 1));
    const Tensor row = recorder.heads.front().weights;
    for (size_t k = 0; k < row.width(); ++k) fmt::print(" x");
    const Tensor same = Tensor::of(map.slice_rows(t, 1).to_vector(), {1, text.size()});
    const bool equal = difference(logits, masked.slice_rows(t, 1)) < 1e-5f &&
                       difference(row, same.slice_columns(0, row.width())) < 1e-6f;
    fmt::print("{:>{}}\n", equal ? "weights and logits as at once" : "other numbers",
               2 * (text.size() - row.width()) + 32);
  }
}

// Prints:
// at once, minus infinity above the diagonal before the softmax:
//  x . . . .
//  x x . . .
//  x x x . .
//  x x x x .
//  x x x x x
// token by token, one row a step:
//  x           weights and logits as at once
//  x x         weights and logits as at once
//  x x x       weights and logits as at once
//  x x x x     weights and logits as at once
//  x x x x x   weights and logits as at once
