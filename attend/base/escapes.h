// Characters that are hard to type on a command line, written with a backslash. Not for use
// outside Attend.
#pragma once

#include <string>
#include <string_view>

namespace attend {

// The text with \n, \r, \t, \\ and \xHH in place of what they stand for. Throws ConfigError for any
// other backslash, which should be two.
std::string unescaped(std::string_view text);

}  // namespace attend
