// The bytes of a file or of standard input ("-"), decompressed if they are gzip.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace attend {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `out` with at least one byte and returns how many; 0 only at the end. Throws
  // IoError, and FormatError with the position in the file where compressed data is truncated or
  // damaged.
  virtual size_t read(std::span<char> out) = 0;
};

// Opens a file. gzip is recognised by its first bytes, whatever the name. Throws IoError.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

}  // namespace attend
