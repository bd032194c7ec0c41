// Several models that write together by the mean of their probabilities. They share a vocabulary.
#pragma once

#include "attend/models/generator.h"

namespace attend {

class Ensemble : public Generator {
 public:
  // All models read the same inputs. Throws ConfigError if vocabularies differ or there is no
  // model.
  explicit Ensemble(std::vector<std::shared_ptr<const Generator>> models);

  using Generator::start, Generator::step;
  size_t vocabulary() const override { return models_.front()->vocabulary(); }
  std::unique_ptr<State> start() const override;
  // The logarithm of the mean probabilities; for one model, its own logits.
  Tensor step(State& state, const Tokens& tokens, StepRows rows) const override;
  // The auxiliary losses of all models; the names of those of model i begin with "model.i.".
  Forced force(const Batch& inputs, const Tokens& written) const override;

 private:
  std::vector<std::shared_ptr<const Generator>> models_;
};

}  // namespace attend
