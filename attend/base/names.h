// One table of names for an enum: parsing, printing and validation read it.
#pragma once

#include <string>
#include <string_view>

#include "attend/base/error.h"

namespace attend {

template <typename Enum>
struct Named {
  Enum value;
  std::string_view name;
};

// The value that `name` stands for; otherwise ConfigError with all the choices: `what` is what is
// named.
template <typename Enum, size_t kSize>
Enum value_from_name(const Named<Enum> (&table)[kSize], std::string_view what,
                     std::string_view name) {
  std::string choices;
  for (const auto& entry : table) {
    if (entry.name == name) return entry.value;
    choices += choices.empty() ? "" : ", ";
    choices += entry.name;
  }
  throw ConfigError("unknown {} '{}'; there are: {}", what, name, choices);
}

template <typename Enum, size_t kSize>
std::string_view name_from_value(const Named<Enum> (&table)[kSize], Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

}  // namespace attend
