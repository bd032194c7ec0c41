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

  size_t size() const override { return states.front()->size(); }
  void admit(const Batch& inputs) override {
    for (const auto& state : states) state->admit(inputs);
  }
  void reorder(std::span<const size_t> parents) override {
    for (const auto& state : states) state->reorder(parents);
  }
  void rewind(std::span<const int32_t> lengths) override {
    for (const auto& state : states) state->rewind(lengths);
  }
  std::vector<int32_t> lengths() const override { return states.front()->lengths(); }
};

// log(x / count), element by element.
Tensor log_mean(const Tensor& x, size_t count) {
  Tensor y = Tensor::like(x);
  const float divisor = static_cast<float>(count);
  const auto from = x.span(), to = y.span();
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::log(from[i] / divisor);
  return record(y, {x}, [x](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    for (size_t i = 0; i < x.size(); ++i) {
      const float p = x.span()[i];
      const float value = p > 0 ? dy.span()[i] / p : 0.0f;  // dy is 0 where a probability is
      dx.data()[i] = dx.add ? dx.data()[i] + value : value;
    }
  });
}

// The sum of the probabilities of several models.
class ProbabilitySum {
 public:
  void add(const Tensor& logits) {
    const Tensor probabilities = softmax(logits);
    sum_ = count_ == 0 ? probabilities : attend::add(sum_, probabilities);
    ++count_;
  }
  Tensor logits() const { return log_mean(sum_, count_); }

 private:
  Tensor sum_;
  size_t count_ = 0;
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

std::unique_ptr<Generator::State> Ensemble::start() const {
  auto all = std::make_unique<States>();
  for (const auto& model : models_) all->states.push_back(model->start());
  return all;
}

Tensor Ensemble::step(State& state, const Tokens& tokens, StepRows rows) const {
  const NoGrad no_grad;
  auto& all = dynamic_cast<States&>(state);
  if (models_.size() == 1) return models_[0]->step(*all.states[0], tokens, rows);
  ProbabilitySum sum;
  for (size_t i = 0; i < models_.size(); ++i) {
    sum.add(models_[i]->step(*all.states[i], tokens, rows));
  }
  return sum.logits();
}

Forced Ensemble::force(const Batch& inputs, const Tokens& written) const {
  if (models_.size() == 1) return models_[0]->force(inputs, written);
  Forced together;
  ProbabilitySum sum;
  for (size_t i = 0; i < models_.size(); ++i) {
    const Forced one = models_[i]->force(inputs, written);
    sum.add(one.logits);
    for (const NamedTensor& loss : one.auxiliary) {
      together.auxiliary.push_back({fmt::format("model.{}.{}", i, loss.name), loss.tensor});
    }
  }
  together.logits = sum.logits();
  return together;
}

}  // namespace attend
