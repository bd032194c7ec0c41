// What an error said.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "attend/base/error.h"

namespace attend {

// The text of the `Kind` of error that f() throws.
template <typename Kind = ShapeError, typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}

// That it says this among other things.
template <typename Kind, typename F>
void expect_error(F&& f, const std::string& part) {
  const std::string message = message_of<Kind>(f);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

}  // namespace attend
