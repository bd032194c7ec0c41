#include "attend/train/optimizer.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/kernels/optimizer.h"

namespace attend {
namespace {

constexpr Named<OptimizerKind> kKinds[] = {
    {OptimizerKind::kAdamW, "adamw"},
    {OptimizerKind::kAdam, "adam"},
    {OptimizerKind::kSgd, "sgd"},
};

}  // namespace

void OptimizerConfig::check() const {
  const auto within = [](const char* name, double value, double low, double high) {
    if (!(value >= low && value < high)) {
      throw ConfigError("optimizer: {} is {}, not within [{}, {})", name, value, low, high);
    }
  };
  constexpr double kAny = std::numeric_limits<double>::infinity();
  within("rate", rate, 0.0, kAny);
  within("beta1", beta1, 0.0, 1.0);
  within("beta2", beta2, 0.0, 1.0);
  within("epsilon", epsilon, 0.0, kAny);
  within("momentum", momentum, 0.0, 1.0);
  within("weight_decay", weight_decay, 0.0, kAny);
  within("clip_norm", clip_norm, 0.0, kAny);
  if (nesterov && momentum == 0.0) {
    throw ConfigError("optimizer: nesterov needs a momentum above 0");
  }
}

OptimizerKind optimizer_from_name(std::string_view name) {
  return value_from_name(kKinds, "optimizer", name);
}

std::string_view name_of(OptimizerKind kind) { return name_from_value(kKinds, kind); }

Optimizer::Optimizer(std::vector<NamedTensor> parameters, const OptimizerConfig& config)
    : config_(config), parameters_(std::move(parameters)) {
  config_.check();
  const bool adam = config_.kind != OptimizerKind::kSgd;
  for (const NamedTensor& p : parameters_) {
    if (adam || config_.momentum > 0) first_.push_back(Tensor::zeros(p.tensor.shape()));
    if (adam) second_.push_back(Tensor::zeros(p.tensor.shape()));
  }
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> all;
  for (size_t i = 0; i < first_.size(); ++i) {
    all.push_back({"first." + parameters_[i].name, first_[i]});
  }
  for (size_t i = 0; i < second_.size(); ++i) {
    all.push_back({"second." + parameters_[i].name, second_[i]});
  }
  return all;
}

double Optimizer::step(double rate_factor) {
  std::vector<kernels::OptimizerTensor> tensors;
  tensors.reserve(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& p = parameters_[i].tensor;
    const Tensor gradient = p.grad();
    tensors.push_back({
        .parameter = p.data(),
        .gradient = gradient.defined() ? gradient.data() : nullptr,
        .m = first_.empty() ? nullptr : first_[i].data(),
        .v = second_.empty() ? nullptr : second_[i].data(),
        .size = p.size(),
        .weight_decay = p.rank() >= 2 ? static_cast<float>(config_.weight_decay) : 0.0f,
    });
  }
  const bool measured = config_.clip_norm > 0 || config_.check_finite;
  const double norm = measured ? kernels::gradient_norm(tensors) : 0.0;
  if (std::isfinite(norm)) {
    ++steps_;
    const float scale = config_.clip_norm > 0 ? kernels::clip_scale(norm, config_.clip_norm) : 1.0f;
    const double rate = config_.rate * rate_factor;
    if (config_.kind == OptimizerKind::kSgd) {
      kernels::sgd(tensors, {.rate = rate,
                             .momentum = config_.momentum,
                             .nesterov = config_.nesterov,
                             .gradient_scale = scale});
    } else {
      kernels::adam(tensors, {.rate = rate,
                              .beta1 = config_.beta1,
                              .beta2 = config_.beta2,
                              .epsilon = config_.epsilon,
                              .decoupled = config_.kind == OptimizerKind::kAdamW,
                              .step = steps_,
                              .gradient_scale = scale});
    }
  }
  for (const NamedTensor& p : parameters_) p.tensor.clear_grad();
  return norm;
}

}  // namespace attend
