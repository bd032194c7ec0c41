#include "attend/io/json_text.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace attend {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

double shortest(float x) {
  if (!std::isfinite(x)) return double{x};
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, x);
  double y = 0;
  std::from_chars(text, written.ptr, y);
  return y;
}

}  // namespace attend
