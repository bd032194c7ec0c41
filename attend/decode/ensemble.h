// Several models with one vocabulary that write together: the mean of their probabilities.
#pragma once

#include "attend/models/generator.h"

namespace attend {

class Ensemble : public Generator {
 public:
  // All of them read the same inputs. Throws ConfigError where vocabularies differ or there is no
  // model.
  explicit Ensemble(std::vector<std::shared_ptr<const Generator>> models);

  using Generator::start, Generator::step;
  size_t vocabulary() const override { return models_.front()->vocabulary(); }
  std::unique_ptr<State> start() const override;
  // Logarithms of the mean probabilities; of one model alone, its own logits.
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  // The further losses of model i are named "model.i.": they are those of all models.
  Forced force(const Batch& inputs, const Tokens& written) const override;

 private:
  std::vector<std::shared_ptr<const Generator>> models_;
};

}  // namespace attend
