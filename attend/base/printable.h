// Untrusted text made safe for messages and terminals: it can neither control the terminal nor
// imitate a line of ours.
#pragma once

#include <string>
#include <string_view>

namespace attend {

// The text with control characters, line separators and bidirectional marks written as escapes
// ("\x1b", "\u202e"), and bytes that are not UTF-8 as "\xff". Tabs stay. Backslashes are not
// escaped, so the result is for people and cannot be parsed back.
std::string printable(std::string_view text);

// A name or value from a file, for a message: printable, and cut after 60 characters with "...".
// Reads no further than that.
std::string shown_name(std::string_view name);

}  // namespace attend
