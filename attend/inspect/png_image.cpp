#include "attend/inspect/png_image.h"

#include <zlib.h>

#include "attend/base/error.h"

namespace attend {
namespace {

void append_number(std::string& bytes, size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

void append_chunk(std::string& file, std::string_view type, std::string_view data) {
  append_number(file, data.size());
  std::string checked(type);
  checked += data;
  file += checked;
  append_number(file, crc32(0, reinterpret_cast<const Bytef*>(checked.data()), checked.size()));
}

// `type` is PNG's of colours, each of `channels` bytes.
std::string png_file(std::span<const uint8_t> pixels, size_t width, size_t height, char type,
                     size_t channels) {
  std::string header;
  append_number(header, width);
  append_number(header, height);
  header += '\x08';  // bits
  header += type;
  header += std::string("\x00\x00\x00", 3);  // zlib, filters, not interlaced
  const size_t bytes = channels * width;
  std::string lines;
  lines.reserve((bytes + 1) * height);
  for (size_t y = 0; y < height; ++y) {
    lines += '\0';  // no filter
    lines.append(reinterpret_cast<const char*>(pixels.data()) + y * bytes, bytes);
  }
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", deflated(lines));
  append_chunk(file, "IEND", "");
  return file;
}

}  // namespace

std::string deflated(std::string_view bytes) {
  constexpr int kLevel = 4;  // maps are mostly zeros: higher ones gain little and take long
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kLevel);
  if (status != Z_OK) throw IoError("zlib: compress2 returned {}", status);
  packed.resize(size);
  return packed;
}

std::string grey_png(std::span<const uint8_t> pixels, size_t width, size_t height) {
  return png_file(pixels, width, height, 0, 1);
}

std::string colour_png(std::span<const uint8_t> pixels, size_t width, size_t height) {
  return png_file(pixels, width, height, 2, 3);
}

}  // namespace attend
