// JSON in one line. Not for use outside Attend.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attend {

// Text in it may have pieces of characters: what is no UTF-8 becomes U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

// The double whose shortest text is that of x: 0.1f is written as 0.1, and is x again when read.
double shortest(float x);

}  // namespace attend
