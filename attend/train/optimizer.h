// Optimisers over the parameters of a model: clipping and update in one pass over memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/pattern.h"
#include "attend/kernels/row_sums.h"
#include "attend/nn/visit.h"
#include "attend/tensor/tape.h"

namespace attend {

// The optimizers, by name.
enum class OptimizerKind { kAdamW, kAdam, kSgd };

std::string_view name_of(OptimizerKind kind);

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // Adam and AdamW
  double momentum = 0.0;                              // SGD
  bool nesterov = false;
  double weight_decay = 0.0;  // of matrices; vectors such as biases and gains do not decay
  double clip_norm = 0.0;     // the gradients of all parameters together; 0 is off
  // Update nothing when a gradient is not finite. Without clipping that takes one more read of the
  // gradients, about an eighth of the time of a step.
  bool check_finite = true;

  bool operator==(const OptimizerConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("kind", kind, "how gradients become updates");
    v("rate", rate, "peak learning rate");
    v("beta1", beta1, "Adam: decay of the mean of gradients");
    v("beta2", beta2, "Adam: decay of the mean of squared gradients");
    v("epsilon", epsilon, "Adam: added to the denominator");
    v("momentum", momentum, "SGD: momentum");
    v("nesterov", nesterov, "SGD: use Nesterov momentum");
    v("weight_decay", weight_decay, "weight decay of matrices; vectors have none");
    v("clip_norm", clip_norm, "largest norm of the whole gradient; 0: no clipping");
    v("check_finite", check_finite, "skip an update whose gradients are not finite");
  }

  void check() const;  // throws ConfigError
};

// Parameters that are updated at the same rate.
struct ParameterGroup {
  std::vector<NamedTensor> parameters;
  double rate = 1.0;  // relative to the config's
};

// Takes parameters whose names match one of the patterns out of training: they get no gradient from
// now on. Returns the others. Throws ConfigError for a pattern that matches nothing.
template <typename Module>
std::vector<NamedTensor> freeze_matching(Module& module, std::span<const std::string> patterns);

// Holds handles to the parameters and the state of the method, one tensor or two a parameter.
class Optimizer {
 public:
  // Throw ConfigError for settings that cannot work.
  Optimizer(std::vector<NamedTensor> parameters, const OptimizerConfig& config);
  static Optimizer of_groups(std::vector<ParameterGroup> groups, const OptimizerConfig& config);

  // Updates every parameter that has a gradient, at the rate of its group times `rate_factor` (a
  // schedule), and clears the gradients. Returns their norm before clipping, or 0 if the config
  // asks for neither clipping nor the check. When it is not finite nothing is updated, and the
  // gradients are cleared all the same.
  double step(double rate_factor = 1.0);
  // The same by gradients that are given, one for each of parameters(), undefined where there is
  // none. Where there is none, the one of `rows` is taken, if there are as many; their values are
  // added up in place.
  double step(std::span<const Tensor> gradients, double rate_factor) {
    return step(gradients, {}, rate_factor);
  }
  double step(std::span<const Tensor> gradients, std::span<const RowGradient> rows,
              double rate_factor);

  const std::vector<NamedTensor>& parameters() const { return parameters_; }  // of all groups
  int64_t steps() const { return steps_; }                                    // updates done

  // What a checkpoint keeps, beside the parameters: moments under "first." and "second." and the
  // parameter's name. Whoever fills them with saved values also says how many updates were done.
  std::vector<NamedTensor> state() const;
  void resume_at(int64_t steps) { steps_ = steps; }

 private:
  explicit Optimizer(const OptimizerConfig& config);

  OptimizerConfig config_;
  std::vector<NamedTensor> parameters_;
  std::vector<float> rates_;            // of each
  std::vector<Tensor> first_, second_;  // moments; SGD's momentum is the first
  std::vector<kernels::RowSums> sums_;  // of gradients that are rows; as many as have been seen
  int64_t steps_ = 0;
};

namespace detail {
// Detaches all handles to the storages that were chosen.
class StorageFreezer : public Visitor {
 public:
  std::vector<const Storage*> chosen;

 private:
  void on_parameter(const std::string& path, Tensor& parameter) override;
};
// Which of the parameters match.
std::vector<bool> matching(std::span<const NamedTensor> parameters,
                           std::span<const std::string> patterns);
}  // namespace detail

template <typename Module>
std::vector<NamedTensor> freeze_matching(Module& module, std::span<const std::string> patterns) {
  std::vector<NamedTensor> trained;
  detail::StorageFreezer freezer;
  {
    const std::vector<NamedTensor> all = parameters(module);
    const std::vector<bool> frozen = detail::matching(all, patterns);
    for (size_t i = 0; i < all.size(); ++i) {
      if (frozen[i]) {
        freezer.chosen.push_back(all[i].tensor.storage().get());
      } else {
        trained.push_back(all[i]);
      }
    }
  }
  if (!freezer.chosen.empty()) module.visit(freezer);
  return trained;
}

}  // namespace attend
