// Numbers in text.
#pragma once

#include <optional>
#include <string_view>

namespace attend {

// A finite number that fits float32, as "3", "-0.5" or "1e3", perhaps with white space around it;
// nothing for any other text.
std::optional<float> parsed_number(std::string_view text);

}  // namespace attend
