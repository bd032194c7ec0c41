#include "attend/models/encoder_places.h"

#include <unordered_map>

#include "attend/models/sequence_encoder.h"

namespace attend {

std::map<std::string, std::string> encoder_places(Model& model) {
  std::map<std::string, std::string> places;
  SequenceEncoder* const encoder = model.shared_encoder();
  if (encoder == nullptr) return places;
  std::unordered_map<const Storage*, std::string> names;
  for (const NamedTensor& t : parameters_and_buffers(*encoder)) {
    names.emplace(t.tensor.storage().get(), t.name);
  }
  for (const NamedTensor& t : parameters_and_buffers(model)) {
    const auto found = names.find(t.tensor.storage().get());
    if (found != names.end()) places.emplace(t.name, found->second);
  }
  return places;
}

}  // namespace attend
