// JSON from outside, of which nothing is known yet. Not for use outside serve/.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace attend {

// Null where the text is not JSON. Throws DataError past 20,000 values, or past 16 levels of them:
// what walks over a tree by calling itself is safe with it.
nlohmann::ordered_json bounded_json(std::string_view text);

}  // namespace attend
