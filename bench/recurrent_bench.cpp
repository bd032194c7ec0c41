// Recurrent layers, forwards and backwards; a decoder's single step.
#include <benchmark/benchmark.h>

#include <string>

#include "attend/nn/recurrent.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr size_t kSequences = 64, kSteps = 30, kWidth = 512;

// Lengths of 5 to 30, spread evenly, or all of 30.
Packing lengths(bool even) {
  if (even) return Packing::even(kSequences, kSteps);
  std::vector<int32_t> spread;
  for (size_t i = 0; i < kSequences; ++i) {
    spread.push_back(static_cast<int32_t>(5 + (kSteps - 5) * i / (kSequences - 1)));
  }
  return Packing(spread);
}

void BM_Recurrent(benchmark::State& state, Cell cell, bool even) {
  Rng rng(1);
  Recurrent layer({.cell = cell, .input = kWidth, .hidden = kWidth}, rng);
  const Packing packing = lengths(even);
  const Tensor x = parameter({packing.rows(), kWidth}, Init::kNormal, rng);
  const Tensor dy = parameter(x.shape(), Init::kNormal, rng).detach();
  for (auto _ : state) {
    clear_grads(layer);
    x.clear_grad();
    backward(layer(x, packing).output, dy);
  }
  // Six products of rows x gates x width a step: two forwards, four backwards.
  const double products = 6.0 * static_cast<double>(packing.rows() * parameter_count(layer)) / 2;
  state.counters["flops"] =
      benchmark::Counter(2 * products, benchmark::Counter::kIsIterationInvariantRate);
}

// Argument: sequences.
void BM_RecurrentStep(benchmark::State& state, Cell cell) {
  const NoGrad no_grad;
  Rng rng(1);
  const Recurrent layer({.cell = cell, .input = kWidth, .hidden = kWidth}, rng);
  const Tensor x =
      parameter({static_cast<size_t>(state.range(0)), kWidth}, Init::kNormal, rng).detach();
  Recurrent::States states;
  for (auto _ : state) states = layer.step(x, states);
}

BENCHMARK_CAPTURE(BM_Recurrent, lstm, Cell::kLstm, true)->UseRealTime();
BENCHMARK_CAPTURE(BM_Recurrent, lstm_packed, Cell::kLstm, false)->UseRealTime();
BENCHMARK_CAPTURE(BM_Recurrent, gru, Cell::kGru, true)->UseRealTime();
BENCHMARK_CAPTURE(BM_Recurrent, gru_packed, Cell::kGru, false)->UseRealTime();
BENCHMARK_CAPTURE(BM_Recurrent, rnn, Cell::kRnnTanh, true)->UseRealTime();
BENCHMARK_CAPTURE(BM_RecurrentStep, lstm, Cell::kLstm)->Arg(1)->Arg(5)->Arg(64)->UseRealTime();
BENCHMARK_CAPTURE(BM_RecurrentStep, gru, Cell::kGru)->Arg(1)->Arg(5)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace attend
