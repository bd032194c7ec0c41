#include "attend/train/parameter_groups.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "attend/base/error.h"
#include "attend/base/fields.h"
#include "attend/base/printable.h"
#include "attend/nn/depth.h"

namespace attend {
namespace {

class PartSwitch : public Visitor {
 public:
  std::map<const Storage*, Tensor> handles;

 private:
  void on_parameter(const std::string& /*path*/, Tensor& parameter) override {
    const auto found = handles.find(parameter.storage().get());
    if (found != handles.end()) parameter = found->second;
  }
};

}  // namespace

std::vector<RatePattern> rate_patterns(std::span<const std::string> texts) {
  std::vector<RatePattern> found;
  for (const std::string& text : texts) {
    const size_t sign = text.rfind('=');
    double factor = -1;
    const bool known = sign != text.npos && sign > 0 &&
                       detail::parse_field(std::string_view(text).substr(sign + 1), factor) &&
                       std::isfinite(factor) && factor >= 0;
    if (!known) {
      throw ConfigError(
          "train: training.rates has '{}'; give a pattern, = and a factor of 0 or more, such as "
          "encoder=0.1",
          shown_name(text));
    }
    found.push_back({text.substr(0, sign), factor});
  }
  return found;
}

std::optional<UnfreezeEvery> unfreezing_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == "epoch") return UnfreezeEvery{};
  UnfreezeEvery every;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), every.steps);
  if (error == std::errc() && end == text.data() + text.size() && every.steps > 0) return every;
  throw ConfigError("train: training.unfreeze is '{}'; it must be a number of steps, or epoch",
                    shown_name(text));
}

std::vector<ParameterGroup> trained_groups(Model& model, Objective& objective,
                                           const TrainingConfig& config) {
  std::map<std::string, double> rates;
  {
    const std::vector<NamedTensor> all = parameters(model);
    const Depths depths = depths_of(all);
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t below = depths.layers - std::min(depths.of[i], depths.layers);
      rates[all[i].name] = std::pow(config.layer_decay, static_cast<double>(below));
    }
    const std::vector<RatePattern> patterns = rate_patterns(config.rates);
    std::map<std::string, double> factors;
    for (const RatePattern& pattern : patterns) {
      const std::vector<bool> matched = detail::matching(all, std::span(&pattern.pattern, 1));
      for (size_t i = 0; i < all.size(); ++i) {
        if (matched[i]) factors[all[i].name] = pattern.factor;
      }
    }
    for (const auto& [name, factor] : factors) rates[name] *= factor;
  }
  std::vector<ParameterGroup> groups;
  const auto add = [&groups](NamedTensor p, double rate) {
    if (groups.empty() || groups.back().rate != rate)
      groups.push_back({.parameters = {}, .rate = rate});
    groups.back().parameters.push_back(std::move(p));
  };
  for (NamedTensor& p : freeze_matching(model, config.frozen)) {
    if (!p.tensor.needs_grad()) continue;  // the base of an adapter
    const double rate = rates.at(p.name);
    add(std::move(p), rate);
  }
  for (const NamedTensor& p : parameters(objective)) {
    add({std::string(kObjectivePrefix) + p.name, p.tensor}, 1.0);
  }
  return groups;
}

Unfreezing::Unfreezing(Model& model, const TrainingConfig& config)
    : model_(model), every_(unfreezing_of(config.unfreeze)) {
  const std::vector<NamedTensor> all = parameters(model);
  const Depths depths = depths_of(all);
  layers_ = trained_ = depths.layers + 1;  // with the embeddings, which are the last to join
  if (!every_) return;
  if (depths.layers == 0) {
    throw ConfigError(
        "train: training.unfreeze is {}, but the model has no layers one above another",
        config.unfreeze);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].tensor.needs_grad()) parts_.push_back({all[i].tensor, depths.of[i]});
  }
}

bool Unfreezing::at(int64_t step, uint64_t epoch) {
  if (!every_) return false;
  const uint64_t turns = every_->steps > 0 ? static_cast<uint64_t>(step / every_->steps) : epoch;
  const size_t now = static_cast<size_t>(std::min<uint64_t>(turns, layers_));
  if (now == trained_) return false;
  trained_ = now;
  apply();
  return true;
}

// Depths are 0 for embeddings, 1 to layers() - 1 for layers, and layers() above them.
void Unfreezing::apply() {
  PartSwitch parts;
  for (const Part& part : parts_) {
    const bool joins = part.depth + trained_ >= layers_;
    parts.handles.emplace(part.tensor.storage().get(), joins ? part.tensor : part.tensor.detach());
  }
  model_.visit(parts);
}

}  // namespace attend
