// How the terminal that standard output goes to can be drawn on.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "attend/inspect/terminal_map.h"
#include "cli/colour.h"

namespace attend::cli {

// As wide as the window, or as COLUMNS says, or 80; in the colours that TERM and COLORTERM promise.
inline TerminalStyle terminal_style() {
  TerminalStyle style;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    style.columns = window.ws_col;
  } else if (const int columns = std::atoi(variable("COLUMNS").data()); columns > 0) {
    style.columns = static_cast<size_t>(columns);
  }
  if (!may_colour(STDOUT_FILENO)) return style;
  const std::string_view depth = variable("COLORTERM");
  if (depth == "truecolor" || depth == "24bit") {
    style.colours = ColourDepth::k24Bit;
  } else if (variable("TERM").find("256") != std::string_view::npos) {
    style.colours = ColourDepth::k256;
  }
  return style;
}

}  // namespace attend::cli
