// Bytes as text (RFC 4648, with padding). Not for use outside Attend.
#pragma once

#include <string>
#include <string_view>

namespace attend {

std::string base64(std::string_view bytes);

}  // namespace attend
