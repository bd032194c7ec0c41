#include "attend/serve/answers.h"

#include <bit>
#include <charconv>

#include "attend/base/printable.h"

namespace attend {

void append_number(std::string& bytes, size_t number) {
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>((number >> shift) & 0xFF);
  }
}

void append_values(std::string& bytes, std::span<const float> values) {
  for (const float value : values) append_number(bytes, std::bit_cast<uint32_t>(value));
}

std::string extents_bytes(const Tensor& map) {
  std::string bytes;
  append_number(bytes, map.rows());
  append_number(bytes, map.width());
  return bytes;
}

std::string map_bytes(const Tensor& map) {
  std::string bytes = extents_bytes(map);
  append_values(bytes, map.to_vector());
  return bytes;
}

std::string parameter(const Explorer::Parameters& parameters, const std::string& name,
                      const std::string& otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

size_t number_of(std::string_view what, std::string_view text) {
  int64_t number = 0;  // of bytes or steps, which have a sign elsewhere
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw ConfigError("{} is '{}'; use a whole number from 0", what, shown_name(text));
  }
  return static_cast<size_t>(number);
}

}  // namespace attend
