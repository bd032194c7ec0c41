// Reads the files of an uncompressed tar archive (ustar), as ./dev fuzz packs them.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

// Name and content of each regular file, in the order of the archive.
inline std::vector<std::pair<std::string, std::string>> files_of_tar(std::string_view archive) {
  constexpr size_t kBlock = 512, kSizeAt = 124, kSizeDigits = 11, kTypeAt = 156, kNameBytes = 100;
  std::vector<std::pair<std::string, std::string>> files;
  while (archive.size() >= kBlock && archive[0] != '\0') {
    const std::string_view header = archive.substr(0, kBlock);
    size_t size = 0;
    const char* const digits = header.data() + kSizeAt;
    std::from_chars(digits, digits + kSizeDigits, size, 8);
    if (size > archive.size() - kBlock) throw std::runtime_error("the archive is cut off");
    if (header[kTypeAt] == '0') {
      const std::string_view name = header.substr(0, kNameBytes);
      files.emplace_back(name.substr(0, name.find('\0')), archive.substr(kBlock, size));
    }
    archive.remove_prefix(std::min(archive.size(), kBlock + (size + kBlock - 1) / kBlock * kBlock));
  }
  return files;
}

}  // namespace attend
