// How the terminal that output goes to can be drawn on.
#pragma once

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attend/inspect/terminal_map.h"
#include "cli/colour.h"

namespace attend::cli {

// Prints to standard error. Where that cannot be written, as on a full disk, work goes on.
template <typename... Args>
void notify(fmt::format_string<Args...> text, Args&&... args) {
  const std::string line = fmt::format(text, std::forward<Args>(args)...);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

// Of the window that is open there, or as COLUMNS says, or 80.
inline size_t columns_of(int descriptor) {
  winsize window{};
  if (ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) return window.ws_col;
  const char* const told = std::getenv("COLUMNS");
  const int columns = told == nullptr ? 0 : std::atoi(told);
  return columns > 0 ? static_cast<size_t>(columns) : 80;
}

// As wide as standard output, in the colours that TERM and COLORTERM promise.
inline TerminalStyle terminal_style() {
  TerminalStyle style;
  style.columns = columns_of(STDOUT_FILENO);
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
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
