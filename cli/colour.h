// Colours, on a terminal only.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace attend::cli {

// Whether what is written to the descriptor may be coloured: a terminal, not a dumb one, and no
// NO_COLOR (https://no-color.org).
inline bool may_colour(int descriptor) {
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(descriptor) != 0 && (off == nullptr || *off == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

enum class Colour { kGreen = 32, kYellow = 33, kCyan = 36, kGrey = 90 };

inline std::string coloured(bool on, Colour colour, std::string_view text) {
  if (!on) return std::string(text);
  return "\x1b[" + std::to_string(static_cast<int>(colour)) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace attend::cli
