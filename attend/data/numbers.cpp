#include "attend/data/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace attend {

std::optional<float> parsed_number(std::string_view text) {
  constexpr std::string_view kAround = " \t\v\f\r";
  const size_t begin = text.find_first_not_of(kAround);
  if (begin == text.npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kAround) + 1 - begin);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Out of range is checked before the conversion, and what is too small for float32 becomes 0.
  if (!(std::abs(number) <= double{std::numeric_limits<float>::max()})) return std::nullopt;
  return static_cast<float>(number);
}

}  // namespace attend
