// Sizes for tests of any kind of model.
#pragma once

#include <map>
#include <string>

#include "attend/io/config.h"

namespace attend {

// Settings of these names, in whatever kind has them.
inline void make_small(AnyConfig& settings) {
  static const std::map<std::string, std::string, std::less<>> kSmall = {
      {"width", "16"},         {"hidden", "16"},        {"embedding", "16"},
      {"heads", "2"},          {"feed_forward", "24"},  {"layers", "2"},
      {"encoder_layers", "2"}, {"decoder_layers", "2"}, {"skip_width", "16"},
      {"longest_source", "50"}};
  for (const Field& field : fields_of(settings).fields) {
    const auto small = kSmall.find(field.path.substr(field.path.rfind('.') + 1));
    if (small != kSmall.end()) field.set(std::vector{small->second});
  }
}

}  // namespace attend
