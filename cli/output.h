// What a model wrote, or a file holds, on standard output.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>

#include "attend/base/printable.h"

namespace attend::cli {

// A text as part of a line: ends of lines in it become spaces, so that line n stays line n. On a
// terminal control characters are shown as escapes: a vocabulary of a stranger could hold what
// moves the cursor or sets the title. A file or a pipe gets the bytes as they are.
inline std::string output_text(std::string text) {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  std::ranges::replace(text, '\n', ' ');
  return terminal ? printable(text) : text;
}

}  // namespace attend::cli
