#include "attend/train/optimizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/kernels/optimizer.h"

namespace attend {
namespace {

constexpr Named<OptimizerKind> kOptimizerKinds[] = {
    {OptimizerKind::kAdamW, "adamw"},
    {OptimizerKind::kAdam, "adam"},
    {OptimizerKind::kSgd, "sgd"},
};

std::string first_names(std::span<const NamedTensor> parameters) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min<size_t>(parameters.size(), 5); ++i) {
    names.push_back(parameters[i].name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void OptimizerConfig::check() const {
  const auto within = [](const char* name, double value, double low, double high) {
    if (!(value >= low && value < high)) {
      throw ConfigError("optimizer: {} is {}; it must be at least {} and below {}", name, value,
                        low, high);
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

std::string_view name_of(OptimizerKind kind) { return name_from_value(kOptimizerKinds, kind); }

namespace detail {

void StorageFreezer::on_parameter(const std::string& /*path*/, Tensor& parameter) {
  if (std::ranges::find(chosen, parameter.storage().get()) == chosen.end()) return;
  parameter = parameter.detach();
}

std::vector<bool> matching(std::span<const NamedTensor> parameters,
                           std::span<const std::string> patterns) {
  std::vector<bool> found(parameters.size(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!matches_pattern(parameters[i].name, pattern)) continue;
      found[i] = any = true;
    }
    if (any) continue;
    throw ConfigError("train: no parameter matches '{}'; the first parameters are {}",
                      shown_name(pattern), first_names(parameters));
  }
  return found;
}

}  // namespace detail

Optimizer::Optimizer(const OptimizerConfig& config) : config_(config) { config_.check(); }

Optimizer::Optimizer(std::vector<NamedTensor> parameters, const OptimizerConfig& config)
    : Optimizer(of_groups({{.parameters = std::move(parameters)}}, config)) {}

Optimizer Optimizer::of_groups(std::vector<ParameterGroup> groups, const OptimizerConfig& config) {
  Optimizer made(config);
  const bool adam = config.kind != OptimizerKind::kSgd;
  for (ParameterGroup& group : groups) {
    if (!(group.rate >= 0)) throw ConfigError("optimizer: a group's rate is {}", group.rate);
    for (NamedTensor& p : group.parameters) {
      if (adam || config.momentum > 0) made.first_.push_back(Tensor::zeros(p.tensor.shape()));
      if (adam) made.second_.push_back(Tensor::zeros(p.tensor.shape()));
      made.rates_.push_back(static_cast<float>(group.rate));
      made.parameters_.push_back(std::move(p));
    }
  }
  return made;
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
  std::vector<Tensor> gradients;
  std::vector<RowGradient> rows;
  for (const NamedTensor& p : parameters_) {
    rows.push_back(row_gradient(p.tensor));
    gradients.push_back(rows.back().defined() ? Tensor() : p.tensor.grad());
  }
  return step(gradients, rows, rate_factor);
}

double Optimizer::step(std::span<const Tensor> gradients, std::span<const RowGradient> rows,
                       double rate_factor) {
  if (gradients.size() != parameters_.size()) {
    throw ShapeError("optimizer: {} gradients for {} parameters", gradients.size(),
                     parameters_.size());
  }
  std::vector<kernels::OptimizerTensor> tensors;
  tensors.reserve(parameters_.size());
  if (std::ranges::any_of(rows, &RowGradient::defined)) sums_.resize(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& p = parameters_[i].tensor;
    tensors.push_back({
        .parameter = p.data(),
        .gradient = gradients[i].defined() ? gradients[i].data() : nullptr,
        .m = first_.empty() ? nullptr : first_[i].data(),
        .v = second_.empty() ? nullptr : second_[i].data(),
        .size = p.size(),
        .weight_decay = p.rank() >= 2 ? static_cast<float>(config_.weight_decay) : 0.0f,
        .rate_scale = rates_[i],
    });
    if (i >= rows.size() || !rows[i].defined() || gradients[i].defined()) continue;
    const RowGradient& g = rows[i];
    const kernels::Rows values{g.values.data(), g.values.rows(), g.values.width(),
                               g.values.stride()};
    if (g.factors.defined()) {
      sums_[i].add_up(g.ids.index_span(), g.factors.span(), g.sources.index_span(), values,
                      p.extent(0));
    } else {
      sums_[i].add_up(g.ids.index_span(), values, p.extent(0));
    }
    tensors.back().rows = &sums_[i];
    tensors.back().width = p.width();
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
