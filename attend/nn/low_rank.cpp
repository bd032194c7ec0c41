#include "attend/nn/low_rank.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/pattern.h"
#include "attend/base/printable.h"
#include "attend/kernels/elementwise.h"
#include "attend/nn/init.h"
#include "attend/tensor/tape.h"

namespace attend {

void LowRankConfig::check() const {
  check_ranges(*this, "lora");
  if (rank == 0) throw ConfigError("lora: a rank of 0 changes nothing");
  if (targets.empty()) throw ConfigError("lora: no targets; give some, such as *.query");
  if (!(alpha > 0 && std::isfinite(alpha))) {
    throw ConfigError("lora: alpha is {}; it must be above 0", alpha);
  }
  if (!(dropout >= 0 && dropout < 1)) {
    throw ConfigError("lora: a dropout of {} is not within [0, 1)", dropout);
  }
}

bool is_low_rank(std::string_view name) {
  return name.ends_with(kLowRankDown) || name.ends_with(kLowRankUp);
}

namespace detail {

void LowRankAdder::on_weight(const std::string& path, Weight& weight) {
  seen_.push_back(path);
  bool chosen = false;
  for (const std::string& target : config_.targets) {
    if (!matches_pattern(path, target)) continue;
    matched_.push_back(target);
    chosen = true;
  }
  if (!chosen || weight.change != nullptr) return;
  std::shared_ptr<LowRank>& change = made_[weight.value.storage().get()];
  if (change == nullptr) {
    change = std::make_shared<LowRank>();
    change->down = parameter({config_.rank, weight.in()}, Init::kFanIn, rng_);
    change->up = constant_parameter({weight.out(), config_.rank}, 0.0f);
    change->scale = config_.alpha / static_cast<float>(config_.rank);
    change->dropout = config_.dropout;
  }
  weight.change = change;
}

void LowRankAdder::check() const {
  for (const std::string& target : config_.targets) {
    if (std::ranges::find(matched_, target) != matched_.end()) continue;
    std::vector<std::string> some(
        seen_.begin(), seen_.begin() + static_cast<ptrdiff_t>(std::min<size_t>(seen_.size(), 8)));
    throw ConfigError("lora: no matrix of a linear layer matches '{}'; there are: {}{}",
                      shown_name(target), fmt::join(some, ", "),
                      some.size() < seen_.size() ? " ..." : "");
  }
}

void LowRankMerger::on_weight(const std::string& /*path*/, Weight& weight) {
  if (weight.change == nullptr) return;
  const std::shared_ptr<LowRank> change = std::move(weight.change);
  weight.change = nullptr;
  if (!done_.emplace(weight.value.storage().get(), true).second) return;
  const NoGrad no_grad;
  const Tensor added = change->matrix();
  kernels::add(weight.value.data(), added.data(), weight.value.data(), added.size());
}

BaseFreezer::BaseFreezer(const std::vector<std::string>& trained) {
  for (const std::string& name : trained) trained_.emplace(name, true);
}

void BaseFreezer::on_parameter(const std::string& path, Tensor& parameter) {
  if (!is_low_rank(path) && !trained_.contains(path)) parameter = parameter.detach();
}

}  // namespace detail
}  // namespace attend
