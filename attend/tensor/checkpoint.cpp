#include <optional>
#include <utility>

#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend {

Tensor checkpoint(std::function<Tensor(std::span<const Tensor>)> function,
                  std::vector<Tensor> inputs) {
  const TrainingScope* training = current_training();
  std::optional<Rng> random;
  if (training != nullptr) random = training->rng;
  Tensor y;
  {
    const NoGrad no_grad;
    y = function(inputs).detach();
  }
  // The function may hold parameters the tape cannot see: it is recorded whatever the inputs need.
  return record_always(
      y, inputs, [function = std::move(function), inputs, random](const Tensor& dy, Grads& grads) {
        std::vector<Tensor> leaves;
        for (const Tensor& x : inputs) {
          leaves.push_back(x.detach());
          if (grads.wants(x)) leaves.back().require_grad();
        }
        std::optional<TrainingScope> scope;
        if (random) scope.emplace(*random);
        backward(function(leaves), dy);
        for (size_t i = 0; i < inputs.size(); ++i) {
          if (leaves[i].grad().defined()) grads.pass(inputs[i], leaves[i].grad());
        }
      });
}

}  // namespace attend
