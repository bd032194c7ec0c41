// Lower case by Unicode's tables. Not for use outside Attend.
#pragma once

#include <string>
#include <string_view>

namespace attend {

// Character by character, in no language in particular: a text never changes its number of
// characters. What is no character stays.
std::string lower_case(std::string_view text);

}  // namespace attend
