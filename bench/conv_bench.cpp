// Convolutions and pooling, forward and backward, at the sizes of sequence and image models.
#include <benchmark/benchmark.h>

#include "attend/base/rng.h"
#include "attend/ops/pool.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

Tensor random(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(1, 2), -1.0f, 1.0f);
  return x.require_grad();
}

// Runs function(inputs) and its gradient, of which `flops` are the multiplications and additions.
template <typename F>
void run(benchmark::State& state, const std::vector<Tensor>& inputs, double flops, F&& function) {
  const Tensor dy = random(function().shape()).detach();
  for (auto _ : state) {
    backward(function(), dy);
    for (const Tensor& x : inputs) x.clear_grad();
  }
  state.counters["FLOPS"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate,
                                               benchmark::Counter::kIs1000);
}

// Causal, 64 sequences of 256 rows. Arguments: channels, kernel, dilation, groups.
void BM_Conv1d(benchmark::State& state) {
  const auto channels = static_cast<size_t>(state.range(0)),
             kernel = static_cast<size_t>(state.range(1)),
             dilation = static_cast<size_t>(state.range(2)),
             groups = static_cast<size_t>(state.range(3));
  const Packing packing = Packing::even(64, 256);
  const Tensor x = random({packing.rows(), channels}),
               weight = random({channels, channels / groups, kernel}), bias = random({channels});
  const Conv1dOptions causal{
      .dilation = dilation, .groups = groups, .left = (kernel - 1) * dilation};
  run(state, {x, weight, bias}, 6.0 * static_cast<double>(packing.rows() * weight.size()),
      [&] { return conv1d(x, packing, weight, bias, causal).rows; });
}

// 8 images of 56 x 56. Arguments: channels, kernel, stride, groups.
void BM_Conv2d(benchmark::State& state) {
  const auto channels = static_cast<size_t>(state.range(0)),
             kernel = static_cast<size_t>(state.range(1)),
             stride = static_cast<size_t>(state.range(2)),
             groups = static_cast<size_t>(state.range(3));
  const Tensor x = random({8, 56, 56, channels}), bias = random({channels}),
               weight = random({channels, channels / groups, kernel, kernel});
  const Conv2dOptions options{.stride = stride, .padding = kernel / 2, .groups = groups};
  const size_t rows = 8 * 56 * 56 / (stride * stride);
  run(state, {x, weight, bias}, 6.0 * static_cast<double>(rows * weight.size()),
      [&] { return conv2d(x, weight, bias, options); });
}

void BM_MaxPool2d(benchmark::State& state) {
  const Tensor x = random({8, 56, 56, 64});
  run(state, {x}, 0, [&] { return max_pool2d(x, {.kernel = 3, .stride = 2, .padding = 1}); });
}

void BM_MeanPool1d(benchmark::State& state) {
  const Packing packing = Packing::even(64, 256);
  const Tensor x = random({packing.rows(), 128});
  run(state, {x}, 0, [&] { return mean_pool1d(x, packing, {.kernel = 2}).rows; });
}

BENCHMARK(BM_Conv1d)
    ->Args({128, 3, 1, 1})
    ->Args({128, 3, 2, 1})
    ->Args({128, 3, 4, 1})
    ->Args({512, 3, 1, 1})
    ->Args({512, 7, 1, 512})
    ->UseRealTime();
BENCHMARK(BM_Conv2d)
    ->Args({64, 1, 1, 1})
    ->Args({64, 3, 1, 1})
    ->Args({64, 3, 2, 1})
    ->Args({64, 3, 1, 64})
    ->UseRealTime();
BENCHMARK(BM_MaxPool2d)->UseRealTime();
BENCHMARK(BM_MeanPool1d)->UseRealTime();

}  // namespace
}  // namespace attend
