// A directory for the files of one fuzz target, kept from input to input. ./dev fuzz puts it into
// memory.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "attend/base/files.h"

namespace attend::fuzz {

class Scratch {
 public:
  const std::filesystem::path& path() const { return directory_.path(); }

  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path path = directory_.path() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  TemporaryDirectory directory_;
};

inline std::string contents(const std::filesystem::path& path) { return file_contents(path); }

}  // namespace attend::fuzz
