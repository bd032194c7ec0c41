// The version of the library that is running, which may differ from the one a program was compiled
// with.
#pragma once

#include <string_view>

namespace attend {

// The version, for messages and checks; `attend --version` prints it.
std::string_view library_version();  // "0.1.0"

}  // namespace attend
