// Several models with one vocabulary that write together: the mean of their probabilities.
#pragma once

#include "attend/models/generator.h"

namespace attend {

class Ensemble : public Generator {
 public:
  // Throws ConfigError where vocabularies differ or there is no model.
  explicit Ensemble(std::vector<std::shared_ptr<const Generator>> models);

  size_t vocabulary() const override { return models_.front()->vocabulary(); }
  std::unique_ptr<State> start(const Tokens& sources) const override;
  Tensor step(State& state, std::span<const int32_t> tokens) const override;

 private:
  std::vector<std::shared_ptr<const Generator>> models_;
};

}  // namespace attend
