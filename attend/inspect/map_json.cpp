#include "attend/inspect/map_json.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "attend/io/json_text.h"

namespace attend {
namespace {

void append_row(std::string& text, const HeatMap& map, size_t row) {
  text += '[';
  for (size_t column = 0; column < map.columns.size(); ++column) {
    if (column > 0) text += ',';
    const float value = map.at(row, column);
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(text), "{}", value);
    } else {
      text += "null";
    }
  }
  text += ']';
}

void append_map(std::string& text, const HeatMap& map) {
  map.check();
  text += fmt::format(R"({{"title":{},"rows":{},"columns":{},"values":[)", json_text(map.title),
                      json_text(map.rows), json_text(map.columns));
  for (size_t row = 0; row < map.rows.size(); ++row) {
    if (row > 0) text += ',';
    append_row(text, map, row);
  }
  text += "]}";
}

}  // namespace

std::string maps_json(std::span<const HeatMap> maps) {
  std::string text;
  if (maps.size() == 1) {
    append_map(text, maps.front());
    return text += '\n';
  }
  for (const HeatMap& map : maps) {
    text += text.empty() ? "[" : ",\n";
    append_map(text, map);
  }
  return maps.empty() ? "[]\n" : text + "]\n";
}

}  // namespace attend
