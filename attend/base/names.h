// One table of names for an enum, used to parse, print and validate. An entry is a Named, or any
// struct that has its two members.
#pragma once

#include <string>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {

// A value of an enum and its name.
template <typename Enum>
struct Named {
  Enum value;
  std::string_view name;
};

// The value of that name. Throws ConfigError that lists the choices if there is none; `what` says
// what kind of thing is named: "optimizer".
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

// The name of a value; "unknown" if the table does not have it.
template <typename Entry, size_t kSize>
std::string_view name_from_value(const Entry (&table)[kSize], decltype(Entry::value) value) {
  for (const Entry& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

}  // namespace attend
