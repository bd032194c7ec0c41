// PNG files of pixels, and the compression that they use. Not for use outside inspect/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attend {

std::string deflated(std::string_view bytes);  // as zlib does: RFC 1950

// The bytes of a file with one grey pixel a byte, row by row. Neither extent may be 0.
std::string grey_png(std::span<const uint8_t> pixels, size_t width, size_t height);
// The same of three bytes a pixel: red, green, blue.
std::string colour_png(std::span<const uint8_t> pixels, size_t width, size_t height);

}  // namespace attend
