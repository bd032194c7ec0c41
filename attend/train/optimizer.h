// Optimisers over the parameters of a model: clipping and update in one pass over memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attend/nn/visit.h"

namespace attend {

enum class OptimizerKind { kAdamW, kAdam, kSgd };

OptimizerKind optimizer_from_name(std::string_view name);  // "adamw", "adam", "sgd"
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
    v("kind", kind, "adamw, adam or sgd");
    v("rate", rate, "learning rate at its peak");
    v("beta1", beta1, "of Adam: how slowly the mean of gradients moves");
    v("beta2", beta2, "of Adam: how slowly the mean of their squares moves");
    v("epsilon", epsilon, "of Adam: added to the root");
    v("momentum", momentum, "of SGD");
    v("nesterov", nesterov, "of SGD: Nesterov's momentum");
    v("weight_decay", weight_decay, "of matrices; vectors do not decay");
    v("clip_norm", clip_norm, "longest gradient of all parameters together; 0: any");
    v("check_finite", check_finite, "update nothing when a gradient is not finite");
  }

  void check() const;  // throws ConfigError
};

// Holds handles to the parameters and the state of the method, one tensor or two a parameter.
class Optimizer {
 public:
  // Throws ConfigError for settings that cannot work.
  Optimizer(std::vector<NamedTensor> parameters, const OptimizerConfig& config);

  // Updates every parameter that has a gradient, at the config's rate times `rate_factor` (a
  // schedule), and clears the gradients. Returns their norm before clipping, or 0 if
  // the config asks for neither clipping nor the check. When it is not finite nothing is updated,
  // and the gradients are cleared all the same.
  double step(double rate_factor = 1.0);

  int64_t steps() const { return steps_; }  // updates done

  // What a checkpoint keeps, beside the parameters: moments under "first." and "second." and the
  // parameter's name. Whoever fills them with saved values also says how many updates were done.
  std::vector<NamedTensor> state() const;
  void resume_at(int64_t steps) { steps_ = steps; }

 private:
  OptimizerConfig config_;
  std::vector<NamedTensor> parameters_;
  std::vector<Tensor> first_, second_;  // moments; SGD's momentum is the first
  int64_t steps_ = 0;
};

}  // namespace attend
