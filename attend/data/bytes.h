// The bytes of a file, of standard input ("-"), or of what either holds compressed by gzip.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace attend {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `out` with what is there, at least one byte; 0 only at the end. Throws
  // IoError, and FormatError with the byte of the file where compressed data is cut off or damaged.
  virtual size_t read(std::span<char> out) = 0;
};

// gzip is known by its first bytes, whatever the name.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

}  // namespace attend
