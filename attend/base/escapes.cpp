#include "attend/base/escapes.h"

#include <charconv>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

[[noreturn]] void fail(std::string_view text) {
  throw ConfigError("'{}': a backslash begins \\n, \\r, \\t, \\\\ or \\xHH; write \\\\ for one",
                    shown_name(text));
}

// The byte of two hexadecimal digits.
char byte_of(std::string_view text, size_t at) {
  unsigned value = 0;
  const char* const begin = text.data() + at;
  if (at + 2 > text.size()) fail(text);
  const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
  if (error != std::errc() || end != begin + 2) fail(text);
  return static_cast<char>(value);
}

}  // namespace

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    switch (++i < text.size() ? text[i] : '\0') {
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case '\\':
        out += '\\';
        break;
      case 'x':
        out += byte_of(text, i + 1);
        i += 2;
        break;
      default:
        fail(text);
    }
  }
  return out;
}

}  // namespace attend
