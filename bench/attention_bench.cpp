// What attention costs beside its time, as ratios: the memory of a long sequence to that of its
// data, and a forward that is recorded to one that is not.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"
#include "attend/base/rng.h"
#include "attend/base/storage.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr size_t kHeads = 8, kWidth = 512;

Tensor random(size_t rows, uint64_t stream) {
  Tensor x = Tensor::empty({rows, kWidth});
  fill_normal(x.span(), RandomStream(1, stream), 0.0f, 1.0f);
  return x;
}

// A line of what Linux says of this process, in bytes; 0 if there is none.
double process_memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0.0;
    if (word == name + ":" && status >> kilobytes) return kilobytes * 1024.0;
  }
  return 0.0;
}

// Lets the peak of this process start again from what it holds now.
bool reset_process_peak() {
  release_unused_memory();
  return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << "5" << std::flush);
}

// Argument: tokens. Inputs, the output and its gradient, and the gradients of the inputs are eight
// matrices; the system counts what was touched, scratch of threads included.
void BM_AttentionMemory(benchmark::State& state) {
  const auto tokens = static_cast<size_t>(state.range(0));
  double most = 0.0;
  for (auto _ : state) {
    if (!reset_process_peak() || process_memory("VmHWM") == 0.0) {
      state.SkipWithError("the peak of a process is known on Linux only");
      break;
    }
    const double before = process_memory("VmRSS");
    const Tensor q = random(tokens, 1).require_grad(), k = random(tokens, 2).require_grad(),
                 v = random(tokens, 3).require_grad(), dy = random(tokens, 4);
    backward(attention(q, k, v, {.heads = kHeads, .mask = {.causal = true}}).output, dy);
    most = std::max(most, process_memory("VmHWM") - before);
  }
  const double data = 8.0 * static_cast<double>(tokens * kWidth * sizeof(float));
  state.counters["peak_MB"] = most / (1 << 20);
  state.counters["peak_over_data"] = most / data;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return values.empty() ? 0.0 : *middle;
}

// Arguments: sequences, their length. The two forwards take turns; all heads are recorded.
void BM_AttentionRecording(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  const auto count = static_cast<size_t>(state.range(0)),
             length = static_cast<size_t>(state.range(1));
  const Tensor q = random(count * length, 1), k = random(count * length, 2),
               v = random(count * length, 3);
  const Packing packing = Packing::even(count, length);
  const AttentionOptions options{
      .heads = kHeads, .queries = packing, .keys = packing, .name = "layer"};
  const auto seconds = [&] {
    const auto start = Clock::now();
    benchmark::DoNotOptimize(attention(q, k, v, options).output.data());
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  seconds();  // the first one finds nothing in the pool
  std::vector<double> ratios;
  for (auto _ : state) {
    const double alone = seconds();
    const Recorder recorder;
    ratios.push_back(seconds() / alone);
  }
  state.counters["recorded_over_forward"] = median(ratios);
}

BENCHMARK(BM_AttentionMemory)
    ->Arg(16384)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_AttentionRecording)
    ->Args({8, 512})
    ->Args({1, 4096})
    ->Iterations(15)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attend
