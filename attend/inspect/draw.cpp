#include "attend/inspect/draw.h"

#include <algorithm>
#include <utility>

#include "attend/base/names.h"
#include "attend/decode/alignment.h"
#include "attend/inspect/html_map.h"
#include "attend/inspect/map_json.h"
#include "attend/inspect/npy.h"
#include "attend/inspect/png_map.h"
#include "attend/inspect/svg_map.h"
#include "attend/text/lower_case.h"

namespace attend {
namespace {

constexpr Named<PictureFormat> kFormats[] = {
    {PictureFormat::kTerminal, "terminal"}, {PictureFormat::kSvg, "svg"},
    {PictureFormat::kPng, "png"},           {PictureFormat::kHtml, "html"},
    {PictureFormat::kJson, "json"},         {PictureFormat::kNpy, "npy"},
    {PictureFormat::kMoses, "moses"}};

std::string npy_of(std::span<const HeatMap> maps) {
  if (maps.size() == 1) return npy_bytes(maps[0].values);
  std::vector<float> all;
  for (const HeatMap& map : maps) {
    if (map.values.shape() != maps[0].values.shape()) {
      throw ConfigError(
          "npy: the maps differ in size; choose one layer, or one pair of sequences (from, to)");
    }
    const std::vector<float> values = map.values.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  }
  return npy_bytes(Tensor::of(all, {maps.size(), maps[0].rows.size(), maps[0].columns.size()}));
}

// Without the rows and columns of a start and an end.
Tensor words_of(const HeatMap& map) {
  const auto words = [](size_t labels, Framing framing) {
    const size_t begin = framing.start ? 1 : 0;
    return std::pair(begin, labels - std::min(labels, framing.extra()));
  };
  const auto [first_row, rows] = words(map.rows.size(), map.row_framing);
  const auto [first_column, columns] = words(map.columns.size(), map.column_framing);
  return map.values.slice_rows(first_row, rows).slice_columns(first_column, columns);
}

std::string links_of(std::span<const HeatMap> maps) {
  std::string lines;
  for (const HeatMap& map : maps) {
    if (maps.size() > 1) lines += map.title + " ||| ";
    lines += format_links(row_links(words_of(map))) + "\n";
  }
  return lines;
}

}  // namespace

PictureFormat picture_format_from_name(std::string_view name) {
  return value_from_name(kFormats, "format", name);
}

std::vector<std::string> picture_format_names() {
  std::vector<std::string> names;
  for (const auto& format : kFormats) names.emplace_back(format.name);
  return names;
}

PictureFormat format_of_file(const std::filesystem::path& file) {
  if (file.empty()) return PictureFormat::kTerminal;
  const std::string ending = lower_case(file.extension().string());
  if (ending == ".txt") return PictureFormat::kTerminal;
  std::string choices;
  for (const auto& format : kFormats) {
    const std::string own = "." + std::string(format.name);
    if (ending == own) return format.value;
    if (format.value != PictureFormat::kTerminal) choices += own + ", ";
  }
  throw ConfigError("{} has no known ending; use one of: {}.txt", file.string(), choices);
}

std::string draw_maps(std::span<const HeatMap> maps, PictureFormat format,
                      const TerminalStyle& style) {
  switch (format) {
    case PictureFormat::kTerminal:
      return draw_terminal(maps, style);
    case PictureFormat::kSvg:
      return draw_svg(maps);
    case PictureFormat::kPng:
      return draw_png(maps);
    case PictureFormat::kHtml:
      return draw_html(maps);
    case PictureFormat::kJson:
      return maps_json(maps);
    case PictureFormat::kNpy:
      return npy_of(maps);
    case PictureFormat::kMoses:
      return links_of(maps);
  }
  return {};
}

}  // namespace attend
