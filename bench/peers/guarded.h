// How an exception reaches Python: as a value that means failure, and attend_peer_error().
#pragma once

#include <exception>
#include <string>

namespace attend::peers {

inline std::string error;

template <typename F, typename Result>
Result guarded(Result failure, F&& body) {
  try {
    return body();
  } catch (const std::exception& e) {
    error = e.what();
    return failure;
  }
}

}  // namespace attend::peers
