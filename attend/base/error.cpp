#include "attend/base/error.h"

#include <algorithm>
#include <string_view>

#include "attend/base/printable.h"

namespace attend {
namespace {

constexpr size_t kLongest = 4096;  // bytes
constexpr std::string_view kCut = "...";

// Printable line by line, and cut after a whole character.
std::string shown(std::string_view text) {
  std::string out;
  for (std::string_view rest = text.substr(0, kLongest);;) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    out += printable(rest.substr(0, end));
    if (end == rest.size()) break;
    out += '\n';
    rest.remove_prefix(end + 1);
  }
  if (text.size() <= kLongest && out.size() <= kLongest) return out;
  size_t end = kLongest - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;
  return out.substr(0, end) + std::string(kCut);
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& text)
    : std::runtime_error(shown(text)), kind_(kind) {}

}  // namespace attend
