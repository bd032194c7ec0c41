// Activations, softmax, norms, cross-entropy, sums and transposes at the sizes of training.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attend/kernels/activations.h"
#include "attend/kernels/batch_norm.h"
#include "attend/kernels/cross_entropy.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/layer_norm.h"
#include "attend/kernels/reduce.h"
#include "attend/kernels/rms_norm.h"
#include "attend/kernels/softmax.h"
#include "attend/kernels/transpose.h"

namespace attend::kernels {
namespace {

// Arguments of every benchmark: rows, width.
struct Buffers {
  explicit Buffers(const benchmark::State& state)
      : count(static_cast<size_t>(state.range(0))),
        width(static_cast<size_t>(state.range(1))),
        x(count * width),
        y(count * width),
        dy(count * width, 0.01f),
        dx(count * width),
        gamma(width, 1.0f),
        beta(width),
        dgamma(width),
        dbeta(width),
        mean(std::max(count, width)),
        rstd(std::max(count, width)),
        scale(count, 1.0f) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) * 0.01f - 5.0f;
  }
  Rows rows(const std::vector<float>& v) const { return dense_rows(v.data(), count, width); }
  MutableRows rows(std::vector<float>& v) const { return dense_rows(v.data(), count, width); }

  size_t count, width;
  std::vector<float> x, y, dy, dx, gamma, beta, dgamma, dbeta, mean, rstd, scale;
};

// Bytes that the work has to move, if every array is read and written once.
void report(benchmark::State& state, size_t arrays) {
  const int64_t elements = state.range(0) * state.range(1) * state.iterations();
  state.SetBytesProcessed(elements * static_cast<int64_t>(arrays * sizeof(float)));
  state.SetItemsProcessed(elements);
}

void BM_Activation(benchmark::State& state, Activation f) {
  Buffers b(state);
  for (auto _ : state) activate(f, b.x.data(), b.y.data(), b.x.size());
  report(state, 2);
}

void BM_ActivationBackward(benchmark::State& state, Activation f) {
  Buffers b(state);
  for (auto _ : state) {
    activate_backward(f, b.x.data(), b.dy.data(), b.dx.data(), b.x.size(), false);
  }
  report(state, 3);
}

void BM_Multiply(benchmark::State& state) {
  Buffers b(state);
  for (auto _ : state) multiply(b.x.data(), b.dy.data(), b.y.data(), b.x.size());
  report(state, 3);
}

void BM_Softmax(benchmark::State& state) {
  Buffers b(state);
  for (auto _ : state) softmax(b.rows(b.x), b.rows(b.y));
  report(state, 2);
}

void BM_SoftmaxBackward(benchmark::State& state) {
  Buffers b(state);
  softmax(b.rows(b.x), b.rows(b.y));
  for (auto _ : state) softmax_backward(b.rows(b.y), b.rows(b.dy), b.rows(b.dx), false);
  report(state, 3);
}

void BM_LayerNorm(benchmark::State& state) {
  Buffers b(state);
  const LayerNorm norm{b.gamma.data(), b.beta.data()};
  for (auto _ : state) {
    layer_norm(b.rows(b.x), norm, b.rows(b.y), b.mean.data(), b.rstd.data());
    layer_norm_backward(b.rows(b.x), b.rows(b.dy), b.gamma.data(), b.mean.data(), b.rstd.data(),
                        {b.rows(b.dx), b.dgamma.data(), b.dbeta.data()});
  }
  report(state, 5);
}

void BM_RmsNorm(benchmark::State& state) {
  Buffers b(state);
  for (auto _ : state) {
    rms_norm(b.rows(b.x), {b.gamma.data()}, b.rows(b.y), b.rstd.data());
    rms_norm_backward(b.rows(b.x), b.rows(b.dy), b.gamma.data(), b.rstd.data(),
                      {b.rows(b.dx), b.dgamma.data()});
  }
  report(state, 5);
}

void BM_BatchNorm(benchmark::State& state) {
  Buffers b(state);
  const BatchNorm norm{b.gamma.data(), b.beta.data()};
  for (auto _ : state) {
    batch_norm_train(b.rows(b.x), norm, nullptr, b.rows(b.y), b.mean.data(), b.rstd.data());
    batch_norm_backward(b.rows(b.x), b.rows(b.dy), b.gamma.data(), b.mean.data(), b.rstd.data(),
                        {b.rows(b.dx), b.dgamma.data(), b.dbeta.data()});
  }
  report(state, 9);
}

void BM_CrossEntropy(benchmark::State& state, bool in_place) {
  Buffers b(state);
  std::vector<int32_t> targets(b.count);
  for (size_t i = 0; i < b.count; ++i) targets[i] = static_cast<int32_t>(i * 31 % b.width);
  for (auto _ : state) {
    if (in_place) {
      cross_entropy_in_place(b.rows(b.x), targets.data(), 0.1f, 1.0f, b.mean.data(), b.rstd.data());
    } else {
      cross_entropy(b.rows(b.x), targets.data(), 0.1f, b.mean.data(), b.rstd.data());
      cross_entropy_backward(b.rows(b.x), targets.data(), 0.1f,
                             {b.rstd.data(), b.scale.data(), b.rows(b.dx)});
    }
  }
  report(state, in_place ? 2 : 3);
}

void BM_SumRows(benchmark::State& state) {
  Buffers b(state);
  for (auto _ : state) sum_rows(b.rows(b.x), b.dbeta.data());
  report(state, 1);
}

void BM_Sum(benchmark::State& state) {
  Buffers b(state);
  for (auto _ : state) benchmark::DoNotOptimize(sum(b.x.data(), b.x.size()));
  report(state, 1);
}

void BM_Transpose(benchmark::State& state) {
  Buffers b(state);
  for (auto _ : state) transpose(b.rows(b.x), dense_rows(b.y.data(), b.width, b.count));
  report(state, 2);
}

void register_activations() {
  struct Named {
    const char* name;
    Activation f;
  };
  for (const auto& [name, f] :
       {Named{"relu", Activation::kRelu}, Named{"gelu", Activation::kGelu},
        Named{"gelu_tanh", Activation::kGeluTanh}, Named{"silu", Activation::kSilu},
        Named{"tanh", Activation::kTanh}, Named{"sigmoid", Activation::kSigmoid},
        Named{"softplus", Activation::kSoftplus}, Named{"exp", Activation::kExp}}) {
    // One chunk: the time of one thread.
    const auto name_of = [&](const char* what) { return std::string(what) + "/" + name; };
    benchmark::RegisterBenchmark(name_of("BM_Activation").c_str(), BM_Activation, f)
        ->Args({32, 512});
    benchmark::RegisterBenchmark(name_of("BM_ActivationBackward").c_str(), BM_ActivationBackward, f)
        ->Args({32, 512});
  }
}
const bool registered = (register_activations(), true);

BENCHMARK(BM_Multiply)->Args({64, 512})->Args({2048, 512})->UseRealTime();
BENCHMARK(BM_Softmax)->Args({32, 512})->Args({2048, 512})->UseRealTime();
BENCHMARK(BM_SoftmaxBackward)->Args({32, 512})->Args({2048, 512})->UseRealTime();
BENCHMARK(BM_LayerNorm)->Args({32, 512})->Args({2048, 512})->UseRealTime();
BENCHMARK(BM_RmsNorm)->Args({32, 512})->Args({2048, 512})->UseRealTime();
BENCHMARK(BM_BatchNorm)->Args({2048, 512})->UseRealTime();
BENCHMARK_CAPTURE(BM_CrossEntropy, two_steps, false)->Args({1024, 8000})->UseRealTime();
BENCHMARK_CAPTURE(BM_CrossEntropy, in_place, true)->Args({1024, 8000})->UseRealTime();
BENCHMARK(BM_SumRows)->Args({2048, 512})->UseRealTime();
BENCHMARK(BM_Sum)->Args({2048, 512})->UseRealTime();
BENCHMARK(BM_Transpose)->Args({512, 512})->Args({2048, 512})->Args({2000, 500})->UseRealTime();

}  // namespace
}  // namespace attend::kernels
