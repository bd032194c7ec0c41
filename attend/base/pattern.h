// Patterns of names, such as those of parameters.
#pragma once

#include <string_view>

namespace attend {

// Whether a name matches a pattern, in which * stands for any characters; a pattern also stands for
// all names below it: "encoder" matches "encoder.0.query.weight".
bool matches_pattern(std::string_view name, std::string_view pattern);

}  // namespace attend
