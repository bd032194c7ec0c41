// One table of names for an enum: parsing, printing and validation read it. An entry is a Named, or
// any struct with its two members that holds more beside them.
#pragma once

#include <string>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {

template <typename Enum>
struct Named {
  Enum value;
  std::string_view name;
};

// The value that `name` stands for; otherwise ConfigError with all the choices: `what` is what is
// named.
template <typename Entry, size_t kSize>
auto value_from_name(const Entry (&table)[kSize], std::string_view what, std::string_view name) {
  std::string choices;
  for (const Entry& entry : table) {
    if (entry.name == name) return entry.value;
    choices += choices.empty() ? "" : ", ";
    choices += entry.name;
  }
  throw ConfigError("unknown {} '{}'; there are: {}", what, shown_name(name), choices);
}

// "a, b": the names of the entries that satisfy a condition, for messages.
template <typename Entry, size_t kSize, typename Condition>
std::string names_where(const Entry (&table)[kSize], const Condition& condition) {
  std::string names;
  for (const Entry& entry : table) {
    if (!condition(entry)) continue;
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  return names;
}

template <typename Entry, size_t kSize>
std::string_view name_from_value(const Entry (&table)[kSize], decltype(Entry::value) value) {
  for (const Entry& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

}  // namespace attend
