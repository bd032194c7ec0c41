#include "attend/base/printable.h"

#include <fmt/format.h>

#include "attend/base/utf8.h"

namespace attend {
namespace {

// Unicode's property Bidi_Control, which no version since 6.3 has changed: a table of our own
// spares attend::core a library of them.
bool turns_direction(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool acts_on_terminal(char32_t c) {
  if (c == '\t') return false;
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  return control || c == 0x2028 || c == 0x2029 || turns_direction(c);
}

void append_escape(std::string& out, char32_t c) {
  const char* const form = c < 0x80 ? "\\x{:02x}" : "\\u{:04x}";
  fmt::format_to(std::back_inserter(out), fmt::runtime(form), static_cast<uint32_t>(c));
}

void append_bytes(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
  }
}

// At most `most` characters of the text; what is left of it.
std::string_view append_printable(std::string& out, std::string_view text, size_t most) {
  for (size_t count = 0; count < most && !text.empty(); ++count) {
    const CodePoint c = first_code_point(text);
    const std::string_view bytes = text.substr(0, c.bytes);
    if (!c.valid) {
      append_bytes(out, bytes);
    } else if (acts_on_terminal(c.value)) {
      append_escape(out, c.value);
    } else {
      out += bytes;
    }
    text.remove_prefix(c.bytes);
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_printable(out, text, text.size());
  return out;
}

std::string shown_name(std::string_view name) {
  constexpr size_t kMost = 60;
  std::string out;
  if (!append_printable(out, name, kMost).empty()) out += "...";
  return out;
}

}  // namespace attend
