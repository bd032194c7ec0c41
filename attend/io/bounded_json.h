// JSON from files and from the network, as a tree. All of it is parsed here, within limits: a tree
// takes many times the memory of its text, and what copies or writes one recurses. Not for use
// outside Attend.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "attend/io/document_limits.h"

namespace attend {

inline constexpr DocumentLimits kSmallJson{.bytes = size_t{1} << 16, .values = 1024, .depth = 16};

// Throws FormatError, which names `origin`, where the text is no JSON or passes a limit. Of keys
// that are given twice the last one counts.
nlohmann::ordered_json parse_bounded_json(std::string_view text, std::string_view origin,
                                          const DocumentLimits& limits = kSmallJson);

}  // namespace attend
