// What an error said.
#pragma once

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

}  // namespace attend
