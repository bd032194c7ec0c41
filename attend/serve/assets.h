// The files of web/, which the build puts into the library.
#pragma once

#include <span>
#include <string_view>

namespace attend {

struct Asset {
  std::string_view path, content;  // "/index.html"
};

std::span<const Asset> assets();

}  // namespace attend
