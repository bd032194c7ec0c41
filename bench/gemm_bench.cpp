// Matrix products at the shapes of training and decoding.
#include <benchmark/benchmark.h>

#include <vector>

#include "attend/kernels/gemm.h"

namespace attend::kernels {
namespace {

enum Form { kNN, kNT, kTN };

void report(benchmark::State& state, double m, double n, double k) {
  state.counters["FLOP/s"] =
      benchmark::Counter(2 * m * n * k, benchmark::Counter::kIsIterationInvariantRate);
}

// Arguments: m, n, k, form.
void BM_Gemm(benchmark::State& state) {
  const auto m = static_cast<size_t>(state.range(0)), n = static_cast<size_t>(state.range(1)),
             k = static_cast<size_t>(state.range(2));
  const auto form = static_cast<Form>(state.range(3));
  const std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f);
  std::vector<float> c(m * n);
  const Matrix left{a.data(), form == kTN ? m : k, form == kTN};
  const Matrix right{b.data(), form == kNT ? k : n, form == kNT};
  for (auto _ : state) gemm(m, n, k, left, right, {c.data(), n});
  report(state, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
}

// Arguments: m, n, k.
void BM_GemmPacked(benchmark::State& state) {
  const auto m = static_cast<size_t>(state.range(0)), n = static_cast<size_t>(state.range(1)),
             k = static_cast<size_t>(state.range(2));
  const std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f);
  std::vector<float> c(m * n);
  const PackedMatrix packed(k, n, {b.data(), k, true});
  for (auto _ : state) gemm(m, {a.data(), k}, packed, {c.data(), n});
  report(state, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
}

void training_shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"m", "n", "k", "form"})->UseRealTime();
  for (const Form form : {kNN, kNT, kTN}) {
    bench->Args({2048, 2048, 512, form})->Args({2048, 512, 2048, form});
    bench->Args({2048, 512, 512, form})->Args({1024, 256, 256, form});
  }
  bench->Args({1024, 8000, 512, kNN})->Args({1024, 8000, 512, kNT});
  bench->Args({512, 512, 2048, kTN})->Args({256, 64, 64, kNN})->Args({256, 64, 64, kNT});
}

void decoding_shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"m", "n", "k"})->UseRealTime();
  bench->Args({1, 2048, 512})->Args({1, 512, 512})->Args({5, 512, 512})->Args({32, 2048, 512});
}

BENCHMARK(BM_Gemm)->Apply(training_shapes);
BENCHMARK(BM_GemmPacked)->Apply(decoding_shapes);

}  // namespace
}  // namespace attend::kernels
