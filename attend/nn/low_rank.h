// Low-rank changes of a module's matrices (LoRA; Hu et al., 2021): added, trained in their stead,
// and merged.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "attend/base/limits.h"
#include "attend/base/rng.h"
#include "attend/nn/visit.h"

namespace attend {

struct LowRankConfig {
  size_t rank = 0;  // 0: none
  float alpha = 16.0f;
  std::vector<std::string> targets = {"*.query", "*.value"};  // patterns (base/pattern.h)
  float dropout = 0.0f;

  bool operator==(const LowRankConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("rank", rank, "rank of the change of each matrix; 0: off", limits::kWidth.or_0());
    v("alpha", alpha, "the change is multiplied by alpha / rank");
    v("targets", targets, "matrices that are changed, such as *.query or encoder");
    v("dropout", dropout, "of what the changes read");
  }

  void check() const;  // throws ConfigError
};

// What the names of its tensors end with, after the matrix's.
inline constexpr std::string_view kLowRankDown = ".lora_down", kLowRankUp = ".lora_up";
bool is_low_rank(std::string_view name);

namespace detail {

// Adds a change to each matrix that matches. Layers that share a matrix share its change.
class LowRankAdder : public Visitor {
 public:
  LowRankAdder(const LowRankConfig& config, Rng& rng) : config_(config), rng_(rng) {}
  void check() const;  // throws ConfigError for a target that matched nothing

 private:
  void on_parameter(const std::string& /*path*/, Tensor& /*parameter*/) override {}
  void on_weight(const std::string& path, Weight& weight) override;

  const LowRankConfig& config_;
  Rng& rng_;
  std::vector<std::string> seen_, matched_;  // matrices; targets
  std::unordered_map<const Storage*, std::shared_ptr<LowRank>> made_;
};

class LowRankMerger : public Visitor {
 private:
  void on_parameter(const std::string& /*path*/, Tensor& /*parameter*/) override {}
  void on_weight(const std::string& path, Weight& weight) override;

  std::unordered_map<const Storage*, bool> done_;
};

// Takes all parameters out of training but those of low rank and those that are named.
class BaseFreezer : public Visitor {
 public:
  explicit BaseFreezer(const std::vector<std::string>& trained);

 private:
  void on_parameter(const std::string& path, Tensor& parameter) override;
  std::unordered_map<std::string, bool> trained_;
};

}  // namespace detail

// Adds a change to each weight whose name matches a target; at first it changes nothing. Throws
// ConfigError for a target that matches none.
template <typename Module>
void add_low_rank(Module& module, const LowRankConfig& config, Rng& rng) {
  config.check();
  detail::LowRankAdder adder(config, rng);
  module.visit(adder);
  adder.check();
}

// From now on only the changes, and the parameters of these names, get gradients.
template <typename Module>
void freeze_base(Module& module, const std::vector<std::string>& trained) {
  detail::BaseFreezer freezer(trained);
  module.visit(freezer);
}

// Adds the changes to the matrices, which then have none.
template <typename Module>
void merge_low_rank(Module& module) {
  detail::LowRankMerger merger;
  module.visit(merger);
}

}  // namespace attend
