// SHA-256 (FIPS 180-4), for pages that name the scripts they allow. Not for use outside Attend.
#pragma once

#include <string>
#include <string_view>

namespace attend {

std::string sha256(std::string_view bytes);  // the 32 bytes of the digest

}  // namespace attend
