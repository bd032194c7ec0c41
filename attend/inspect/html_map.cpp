#include "attend/inspect/html_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/base/base64.h"
#include "attend/base/sha256.h"
#include "attend/inspect/html_assets.h"
#include "attend/inspect/png_image.h"
#include "attend/inspect/svg_map.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are packed as they are in memory");

constexpr float kPackedSteps = 32767;  // of a packed value

// int16 in parts of `unit`, compressed.
std::string packed(const HeatMap& map, float unit) {
  std::string bytes;
  bytes.reserve(2 * map.values.size());
  for (size_t row = 0; row < map.rows.size(); ++row) {
    for (size_t column = 0; column < map.columns.size(); ++column) {
      const float steps = map.at(row, column) / unit;
      const auto value = static_cast<int16_t>(
          std::isnan(steps) ? 0.0f : std::round(std::clamp(steps, -kPackedSteps, kPackedSteps)));
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  return base64(deflated(bytes));
}

std::vector<std::string> all_visible(const std::vector<std::string>& labels) {
  std::vector<std::string> shown;
  shown.reserve(labels.size());
  for (const std::string& label : labels) shown.push_back(visible(label));
  return shown;
}

// The maps for the script. "<" never stands in it, so that no label can end the element.
std::string data_of(std::span<const HeatMap> maps) {
  nlohmann::json all = nlohmann::json::array();
  for (const HeatMap& map : maps) {
    const float unit = map.largest() / kPackedSteps;
    all.push_back({{"rows", all_visible(map.rows)},
                   {"columns", all_visible(map.columns)},
                   {"unit", unit},
                   {"values", packed(map, unit)}});
  }
  std::string safe;
  for (const char c : all.dump()) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string title_of(std::span<const HeatMap> maps) {
  if (maps.empty()) return "No maps";
  const std::string first = maps.front().title.empty() ? "Heat map" : visible(maps.front().title);
  return maps.size() == 1 ? first : fmt::format("{} and {} more", first, maps.size() - 1);
}

std::string allowed(std::string_view content) { return "'sha256-" + base64(sha256(content)) + "'"; }

}  // namespace

std::string draw_html(std::span<const HeatMap> maps) {
  const SvgParts svg = svg_parts(maps, {.tooltips = false, .focus = true});
  const std::string style = svg.style + std::string(kHtmlStyle);
  const std::string title = xml_escaped(title_of(maps));
  const std::string note = xml_escaped(maps.empty() ? kAttentionNote : maps.front().note);
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
      "style-src {}; img-src data:; base-uri 'none'; form-action 'none'\">\n",
      allowed(kHtmlScript), allowed(style));
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", title, style);
  page += fmt::format("<h1>{}</h1>\n<p class=\"note\">{}</p>\n", title, note);
  page +=
      "<output aria-live=\"polite\">Point at a cell or a label, or use the arrow keys.</output>\n";
  page += "<div class=\"scroll\">\n" + svg.body + "</div>\n";
  page += "<script type=\"application/json\" id=\"maps\">" + data_of(maps) + "</script>\n";
  page += fmt::format("<script>{}</script>\n</body>\n</html>\n", kHtmlScript);
  return page;
}

}  // namespace attend
