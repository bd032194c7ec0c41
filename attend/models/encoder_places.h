// Where a model's tensors are in its encoder: by that, tensors of models of different kinds
// correspond. Not for use outside Attend.
#pragma once

#include <map>
#include <string>

#include "attend/models/model.h"

namespace attend {

// The names of tensors within the encoder (Model::shared_encoder), by the names they have in the
// model; empty for a model without an encoder of that kind.
std::map<std::string, std::string> encoder_places(Model& model);

}  // namespace attend
