// The names of an enum, as configs read and print them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "attend/base/fields.h"

namespace attend {

// The value that a config takes `name` for.
template <NamedEnum T>
T named(std::string_view name) {
  T value{};
  EXPECT_TRUE(detail::parse_field(name, value)) << name;
  return value;
}

// These are all the names there are, in the order of the values, and no other is read.
template <NamedEnum T>
void expect_names(const std::vector<std::string>& names) {
  EXPECT_EQ(detail::choices_of<T>(), names);
  for (const std::string& name : names) EXPECT_EQ(name_of(named<T>(name)), name);
  T value{};
  EXPECT_FALSE(detail::parse_field("no such name", value));
}

}  // namespace attend
