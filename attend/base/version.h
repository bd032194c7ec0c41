// The version of the library that is running, which need not be the one a program was compiled
// with.
#pragma once

#include <string_view>

namespace attend {

std::string_view library_version();  // "0.1.0"

}  // namespace attend
