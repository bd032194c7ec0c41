// Text of strangers in messages and on terminals: it may neither act on the terminal nor pass for
// a line of ours.
#pragma once

#include <string>
#include <string_view>

namespace attend {

// The text with control characters, line separators and marks that turn the direction of writing as
// escapes, "\x1b" or "\u202e", and bytes that are no UTF-8 as "\xff"; tabs stay. It is for people:
// a backslash stays one, so that it does not read back.
std::string printable(std::string_view text);

// A name or a value from a file, for a message: printable, its first 60 characters, with "..." in
// place of the rest. Looks no further than those.
std::string shown_name(std::string_view name);

}  // namespace attend
