// Dropout, embeddings, optimisers and recurrent gates at the sizes of training.
#include <benchmark/benchmark.h>

#include <vector>

#include "attend/kernels/dropout.h"
#include "attend/kernels/embedding.h"
#include "attend/kernels/gates.h"
#include "attend/kernels/optimizer.h"

namespace attend::kernels {
namespace {

// Bytes that the work has to move, if every array is read and written once.
void report(benchmark::State& state, size_t floats) {
  state.SetBytesProcessed(static_cast<int64_t>(floats * sizeof(float)) * state.iterations());
}

// Argument: floats.
void BM_Dropout(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  const std::vector<float> x(size, 1.0f), dy(size, 1.0f);
  std::vector<float> y(size), dx(size);
  const Dropout options{0.1f, RandomStream(1, 2)};
  for (auto _ : state) {
    dropout(x.data(), y.data(), size, options);
    dropout_backward(dy.data(), dx.data(), size, options, false);
  }
  report(state, 4 * size);
}

// Arguments: ids, vocabulary, width.
void BM_Embedding(benchmark::State& state, bool backward) {
  const auto count = static_cast<size_t>(state.range(0)),
             vocab = static_cast<size_t>(state.range(1)),
             width = static_cast<size_t>(state.range(2));
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < count; ++i) {
    ids[i] = static_cast<int32_t>(RandomStream(1, 3).below(i, vocab));
  }
  std::vector<float> rows(count * width, 1.0f), table(vocab * width, 1.0f);
  const Embedding lookup{ids, vocab, width};
  for (auto _ : state) {
    if (backward) {
      embedding_backward(lookup, rows.data(), table.data(), false);
    } else {
      embedding(lookup, table.data(), rows.data());
    }
  }
  report(state, backward ? (count + vocab) * width : 2 * count * width);
}

// A model's parameters with their gradients and state.
struct Model {
  Model(size_t count, size_t size) : values(4, std::vector<float>(count * size, 0.1f)) {
    for (size_t at = 0; at < count * size; at += size) {
      tensors.push_back({.parameter = values[0].data() + at,
                         .gradient = values[1].data() + at,
                         .m = values[2].data() + at,
                         .v = values[3].data() + at,
                         .size = size,
                         .weight_decay = 0.01f});
    }
  }
  std::vector<std::vector<float>> values;
  std::vector<OptimizerTensor> tensors;
};

// Arguments: tensors, floats in each.
void BM_AdamW(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0)),
             size = static_cast<size_t>(state.range(1));
  const Model model(count, size);
  for (auto _ : state) adam(model.tensors, {});
  report(state, 7 * count * size);
}
void BM_GradientNorm(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0)),
             size = static_cast<size_t>(state.range(1));
  const Model model(count, size);
  for (auto _ : state) benchmark::DoNotOptimize(gradient_norm(model.tensors));
  report(state, count * size);
}

// Arguments: rows, width. Forward and backward of one time step.
void BM_LstmStep(benchmark::State& state) {
  const auto rows = static_cast<size_t>(state.range(0)),
             width = static_cast<size_t>(state.range(1));
  const size_t wide = 4 * width;
  std::vector<float> gates(rows * wide, 0.1f), h_gates = gates, bias(wide, 0.1f), d_gates = gates;
  std::vector<float> c(rows * width, 0.1f), h = c, dh = c, dc = c;
  for (auto _ : state) {
    lstm_step({{rows, width, {gates.data(), wide}, {h_gates.data(), wide}, bias.data()},
               {c.data(), width},
               {c.data(), width},
               {.y = {h.data(), width}}});
    lstm_backward({{rows, width, {h.data(), width}, {dh.data(), width}, {d_gates.data(), wide}},
                   {gates.data(), wide},
                   {c.data(), width},
                   {c.data(), width},
                   {dc.data(), width}});
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows * width) * state.iterations());
}
void BM_GruStep(benchmark::State& state) {
  const auto rows = static_cast<size_t>(state.range(0)),
             width = static_cast<size_t>(state.range(1));
  const size_t wide = 3 * width;
  std::vector<float> gates(rows * wide, 0.1f), h_gates = gates, bias(wide, 0.1f), d_gates = gates;
  std::vector<float> h(rows * width, 0.1f), h_n = h, dh = h, dh_n = h;
  for (auto _ : state) {
    gru_step({{rows, width, {gates.data(), wide}, {h_gates.data(), wide}, bias.data()},
              {h.data(), width},
              {.y = {h.data(), width}},
              {h_n.data(), width}});
    gru_backward({{rows, width, {h.data(), width}, {dh.data(), width}, {d_gates.data(), wide}},
                  {gates.data(), wide},
                  {h_n.data(), width},
                  {h.data(), width},
                  {dh_n.data(), width}});
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows * width) * state.iterations());
}

BENCHMARK(BM_Dropout)->Arg(1 << 14)->Arg(2048 * 2048)->UseRealTime();
BENCHMARK_CAPTURE(BM_Embedding, forward, false)->Args({4096, 8000, 512})->UseRealTime();
BENCHMARK_CAPTURE(BM_Embedding, backward, true)->Args({4096, 8000, 512})->UseRealTime();
BENCHMARK(BM_AdamW)->Args({100, 200000})->Args({1000, 512})->UseRealTime();
BENCHMARK(BM_GradientNorm)->Args({100, 200000})->UseRealTime();
BENCHMARK(BM_LstmStep)->Args({64, 512})->Args({1, 512})->UseRealTime();
BENCHMARK(BM_GruStep)->Args({64, 512})->Args({1, 512})->UseRealTime();

}  // namespace
}  // namespace attend::kernels
