// Ops through the tape, forward alone and with the gradient, at the sizes of training: what layers
// pay, beside what their kernels cost.
#include <benchmark/benchmark.h>

#include <functional>
#include <vector>

#include "attend/base/rng.h"
#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"
#include "attend/nn/norm.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

Tensor random(const Shape& shape, uint64_t stream) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x.span(), RandomStream(1, stream), 0.0f, 1.0f);
  return x;
}

Tensor random_ids(size_t count, size_t below) {
  Tensor ids = Tensor::empty({count}, DType::kInt32);
  for (size_t i = 0; i < count; ++i) {
    ids.indices()[i] = static_cast<int32_t>(RandomStream(1, 7).below(i, below));
  }
  return ids;
}

// What an op is run on: its inputs, and the op over them.
struct Subject {
  std::vector<Tensor> leaves;
  std::function<Tensor()> forward;
};

void BM_Op(benchmark::State& state, Subject (*make)(), bool with_gradient) {
  const Subject op = make();
  const Tensor dy = random(op.forward().shape(), 9);
  uint64_t step = 0;
  for (auto _ : state) {
    const TrainingScope training(Rng(1, ++step << 32));
    if (with_gradient) {
      for (const Tensor& leaf : op.leaves) leaf.clear_grad();
      backward(op.forward(), dy);
    } else {
      const NoGrad no_grad;
      benchmark::DoNotOptimize(op.forward().data());
    }
  }
}

template <typename Module>
std::vector<Tensor> leaves_of(const Tensor& x, Module& module) {
  std::vector<Tensor> all{x};
  for (const NamedTensor& p : parameters(module)) all.push_back(p.tensor);
  return all;
}

template <size_t kIn, size_t kOut, Activation kActivation>
Subject linear_subject() {
  Rng rng(1);
  Linear layer(kIn, kOut, rng);
  const Tensor x = random({2048, kIn}, 1).require_grad();
  return {leaves_of(x, layer), [=] { return layer(x, kActivation); }};
}

template <typename Norm>
Subject norm_subject() {
  Norm layer(512);
  const Tensor x = random({2048, 512}, 1).require_grad();
  return {leaves_of(x, layer), [=] { return layer(x); }};
}

Subject dropout_subject() {
  const Tensor x = random({2048, 2048}, 1).require_grad();
  return {{x}, [=] { return dropout(x, 0.1f); }};
}

Subject softmax_subject() {
  const Tensor x = random({2048, 512}, 1).require_grad();
  return {{x}, [=] { return softmax(x); }};
}

Subject cross_entropy_subject() {
  const Tensor x = random({1024, 8000}, 1).require_grad(), targets = random_ids(1024, 8000);
  return {{x}, [=] { return cross_entropy(x, targets, {.label_smoothing = 0.1f}); }};
}

Subject embedding_subject() {
  Rng rng(1);
  const Embedding table(8000, 512, rng);
  return {{table.weight.value}, [=, ids = random_ids(4096, 8000)] { return table(ids); }};
}

// A chain of ops too small to matter: what the tape itself costs.
Subject tape_subject() {
  Rng rng(1);
  Linear layer(4, 4, rng);
  const Tensor x = random({1, 4}, 1).require_grad();
  return {leaves_of(x, layer), [=] {
            Tensor y = x;
            for (int i = 0; i < 100; ++i) y = layer(y);
            return y;
          }};
}

void add(const char* name, Subject (*make)()) {
  for (const bool with_gradient : {false, true}) {
    const std::string label = std::string(name) + (with_gradient ? "/both" : "/forward");
    benchmark::RegisterBenchmark(label.c_str(), BM_Op, make, with_gradient)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

const bool registered = [] {
  add("op/linear_512_2048", linear_subject<512, 2048, Activation::kIdentity>);
  add("op/linear_512_512", linear_subject<512, 512, Activation::kIdentity>);
  add("op/linear_512_2048_gelu", linear_subject<512, 2048, Activation::kGelu>);
  add("op/layer_norm", norm_subject<LayerNorm>);
  add("op/rms_norm", norm_subject<RmsNorm>);
  add("op/batch_norm", norm_subject<BatchNorm>);
  add("op/dropout", dropout_subject);
  add("op/softmax", softmax_subject);
  add("op/cross_entropy", cross_entropy_subject);
  add("op/embedding", embedding_subject);
  add("op/tape_100", tape_subject);
  return true;
}();

}  // namespace
}  // namespace attend
