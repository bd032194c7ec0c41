#include "attend/decode/ensemble.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

struct States : Generator::State {
  std::vector<std::unique_ptr<State>> states;
  void reorder(std::span<const size_t> parents) override {
    for (const auto& state : states) state->reorder(parents);
  }
};

}  // namespace

Ensemble::Ensemble(std::vector<std::shared_ptr<const Generator>> models)
    : models_(std::move(models)) {
  if (models_.empty()) throw ConfigError("ensemble: no model");
  for (const auto& model : models_) {
    if (model->vocabulary() != vocabulary()) {
      throw ConfigError(
          "ensemble: vocabularies of {} and {} tokens; models of an ensemble share one",
          vocabulary(), model->vocabulary());
    }
  }
}

std::unique_ptr<Generator::State> Ensemble::start(const Tokens& sources) const {
  auto all = std::make_unique<States>();
  for (const auto& model : models_) all->states.push_back(model->start(sources));
  return all;
}

Tensor Ensemble::step(State& state, std::span<const int32_t> tokens) const {
  const NoGrad no_grad;
  auto& all = dynamic_cast<States&>(state);
  if (models_.size() == 1) return models_[0]->step(*all.states[0], tokens);
  Tensor sum;
  for (size_t i = 0; i < models_.size(); ++i) {
    const Tensor probabilities = softmax(models_[i]->step(*all.states[i], tokens));
    sum = i == 0 ? probabilities : add(sum, probabilities);
  }
  for (float& value : sum.span()) value = std::log(value / static_cast<float>(models_.size()));
  return sum;
}

}  // namespace attend
