// What a run takes over from the model it starts from (RunConfig::init_from), beside its weights.
#pragma once

#include <optional>
#include <string>

#include "attend/train/choices.h"

namespace attend {

struct FineTuning {
  std::string from, kind;              // the directory, and the kind of model that it has
  double rate = 1e-4;                  // a tenth of that of its training, half of it for an adapter
  std::optional<size_t> context = {};  // tokens that it read at once, if that was set
};

// Sets the model to the base's, unless another was given, and what text is cut into; notes both as
// given. Throws ConfigError for tokens that were given and are not the base's, unless
// init_vocabulary says what to do; IoError and FormatError for what is no model directory.
FineTuning start_from_base(RunConfig& config, GivenSettings& given);

}  // namespace attend
