// A training step of a model that writes: forward, backward, AdamW.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "attend/models/generator.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"
#include "bench/peers/cases.h"

namespace attend::peers {

template <typename Model>
struct Training {
  Model model;
  Batch inputs;
  Tokens target;
  Tensor labels;
  std::unique_ptr<Optimizer> optimizer = {};
  uint64_t steps = 0;

  Tensor loss() const { return cross_entropy(model.logits(inputs, target), labels); }
  void step() {
    const TrainingScope training(Rng(1, ++steps << 32));
    backward(loss());
    optimizer->step();
  }
};

// What it reads, or only how many sequences it writes.
inline Batch inputs_of(const Inputs& in) {
  if (!in.has("source")) return Batch(in.integers("targets").size());
  return {"source", {in.integers("source"), Packing(in.integers("sources"))}};
}

// Parameters by their names. What is compared is the loss and its gradients before the first step,
// without dropout.
template <typename Model>
Case training_case(Model model, const Inputs& in) {
  auto training = std::make_shared<Training<Model>>(Training<Model>{
      std::move(model), inputs_of(in),
      Tokens(in.integers("target"), Packing(in.integers("targets"))), in.at("labels")});
  const std::vector<NamedTensor> all = parameters(training->model);
  for (const NamedTensor& p : all) {
    std::ranges::copy(in.at(p.name).span(), p.tensor.span().begin());
  }
  const OptimizerConfig adamw{.rate = in.number("rate"), .check_finite = false};  // as the peer
  training->optimizer = std::make_unique<Optimizer>(all, adamw);

  const Tensor loss = training->loss();
  backward(loss);
  std::vector<NamedTensor> results{{"loss", loss.detach()}};
  for (const NamedTensor& p : all) {
    results.push_back({"d_" + p.name, Tensor::of(p.tensor.grad().span(), p.tensor.shape())});
  }
  clear_grads(training->model);
  return {.leaves = {},
          .step =
              [training] {
                training->step();
                return Tensor();
              },
          .changed = results};
}

}  // namespace attend::peers
