#include "attend/text/lower_case.h"

#include <unicode/uchar.h>

#include "attend/base/utf8.h"

namespace attend {

std::string lower_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.valid) {
      append_utf8(out, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c.value))));
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace attend
