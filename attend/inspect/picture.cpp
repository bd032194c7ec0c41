#include "attend/inspect/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr double kMargin = 16;   // around the picture, and between maps
constexpr double kWidth = 1200;  // of a picture, where cells can be made small enough
constexpr double kLargestCell = 22;
constexpr double kRoomForLabel = 10;  // pixels a label takes across its direction
constexpr double kLetter = 0.62;      // the width of a column of text in parts of the font's size
constexpr double kTitleSize = 13, kTitleHeight = 24;
constexpr double kLegendWidth = 160, kLegendHeight = 10;
constexpr size_t kLongestLabel = 24;  // columns of text
constexpr double kSlope = 0.7071;     // of a label turned by 45 degrees

double text_width(const PlacedText& text) {
  return kLetter * text.size * static_cast<double>(columns_of(text.text));
}

double longest(const std::vector<PlacedText>& labels) {
  double most = 0;
  for (const PlacedText& label : labels) most = std::max(most, text_width(label));
  return most;
}

// As many labels as have room. Where some are left out, the others say which they are.
std::vector<PlacedText> labels_of(const std::vector<std::string>& texts, double cell) {
  const auto step = static_cast<size_t>(std::ceil(kRoomForLabel / cell));
  std::vector<PlacedText> labels;
  for (size_t i = 0; i < texts.size(); i += step) {
    const std::string number = step == 1 ? "" : fmt::format("{} ", i + 1);
    labels.push_back({.text = cut_to(number + visible(texts[i]), kLongestLabel),
                      .size = cell >= 16 ? 12.0 : 9.0,
                      .index = i});
  }
  return labels;
}

// How far a map reaches from the top left of its cells.
struct Reach {
  double left = 0, above = 0, right = 0, below = 0;
};

void place_row_labels(PlacedMap& map, Reach& reach) {
  for (PlacedText& label : map.row_labels) {
    label.anchor = Anchor::kEnd;
    label.x = -6;
    label.y = (static_cast<double>(label.index) + 0.5) * map.cell + 0.35 * label.size;
  }
  if (!map.row_labels.empty()) reach.left = longest(map.row_labels) + 8;
}

// Level where they are as short as a cell is wide; else at a slant, or upright where cells are
// small.
void place_column_labels(PlacedMap& map, Reach& reach) {
  const double length = longest(map.column_labels);
  const int turned = length <= map.cell ? 0 : map.cell >= 16 ? 45 : 90;
  for (PlacedText& label : map.column_labels) {
    const double centre = (static_cast<double>(label.index) + 0.5) * map.cell;
    label.turned = turned;
    label.anchor = turned == 0 ? Anchor::kMiddle : Anchor::kStart;
    label.x = centre + (turned == 90 ? 0.35 * label.size : 0);
    label.y = -6;
    if (turned == 45) {
      const double end = centre + kSlope * (text_width(label) + label.size);
      reach.right = std::max(reach.right, end);
    }
  }
  if (map.column_labels.empty()) return;
  reach.above = 8 + (turned == 0 ? 12 : turned == 45 ? kSlope * (length + 12) : length);
}

// The map with its cells at (0, 0).
PlacedMap placed(const HeatMap& source, double cell, Reach& reach) {
  PlacedMap map{.cell = cell, .gap = cell >= 8 ? 1.0 : 0.0};
  map.rows = source.rows.size();
  map.columns = source.columns.size();
  reach.right = static_cast<double>(map.columns) * cell;
  reach.below = static_cast<double>(map.rows) * cell;
  map.row_labels = labels_of(source.rows, cell);
  map.column_labels = labels_of(source.columns, cell);
  place_row_labels(map, reach);
  place_column_labels(map, reach);
  map.title = {
      .x = -reach.left, .y = -reach.above - 8, .text = visible(source.title), .size = kTitleSize};
  if (map.rows == 0 || map.columns == 0) {
    map.title.text += fmt::format("{}(empty: {} rows, {} columns)",
                                  map.title.text.empty() ? "" : " ", map.rows, map.columns);
  }
  if (!map.title.text.empty()) reach.above += kTitleHeight;
  reach.right = std::max(reach.right, text_width(map.title) - reach.left);
  return map;
}

void move(PlacedMap& map, double x, double y) {
  map.x += x, map.y += y;
  map.title.x += x, map.title.y += y;
  for (auto* labels : {&map.row_labels, &map.column_labels}) {
    for (PlacedText& label : *labels) label.x += x, label.y += y;
  }
}

// The pitch of cells of maps that share the width with others: whole pixels, so that edges are
// sharp.
double cell_of(std::span<const HeatMap> maps) {
  size_t most = 1;
  for (const HeatMap& map : maps) most = std::max({most, map.rows.size(), map.columns.size()});
  const double across = std::min(std::ceil(std::sqrt(static_cast<double>(maps.size()))), 6.0);
  const double cell = std::floor(kWidth / across / static_cast<double>(most));
  return std::clamp(cell, 1.0, maps.size() == 1 ? kLargestCell : 16.0);
}

void add_legend(Picture& picture, std::span<const HeatMap> maps) {
  const bool has_sign =
      std::any_of(maps.begin(), maps.end(), [](const HeatMap& map) { return map.has_sign; });
  const float most = maps.front().most;
  Legend& legend = picture.legend;
  legend = {.x = kMargin,
            .y = picture.height + 4,
            .width = kLegendWidth,
            .height = kLegendHeight,
            .has_sign = has_sign};
  const double below = legend.y + kLegendHeight + 12;
  const auto number = [&](double part, Anchor anchor, float value) {
    legend.numbers.push_back({.x = legend.x + part * kLegendWidth,
                              .y = below,
                              .text = fmt::format("{:.3g}", value),
                              .size = 10,
                              .anchor = anchor});
  };
  if (!maps.front().row_most.empty()) {
    const auto text = [&](double part, Anchor anchor, const char* what) {
      legend.numbers.push_back({.x = legend.x + part * kLegendWidth,
                                .y = below,
                                .text = what,
                                .size = 10,
                                .anchor = anchor});
    };
    if (has_sign) text(0, Anchor::kStart, "-most");
    text(has_sign ? 0.5 : 0, has_sign ? Anchor::kMiddle : Anchor::kStart, "0");
    text(1, Anchor::kEnd, "most of the row");
  } else {
    number(0, Anchor::kStart, has_sign ? -most : 0.0f);
    if (has_sign) number(0.5, Anchor::kMiddle, 0.0f);
    number(1, Anchor::kEnd, most);
  }
  picture.width = std::max(picture.width, legend.x + kLegendWidth + kMargin);
  picture.height = below + kMargin;
}

}  // namespace

Picture lay_out(std::span<const HeatMap> maps) {
  for (const HeatMap& map : maps) map.check();
  Picture picture{.width = 2 * kMargin, .height = kMargin};
  const double cell = cell_of(maps);
  double x = kMargin, bottom = kMargin;
  // Maps of a row of the grid have the tops of their cells in one line.
  for (size_t begin = 0, end; begin < maps.size(); begin = end) {
    std::vector<Reach> reaches;
    double above = 0;
    x = kMargin;
    for (end = begin; end < maps.size(); ++end) {
      Reach reach;
      PlacedMap map = placed(maps[end], cell, reach);
      const double right = x + reach.left + reach.right;
      if (end > begin && right + kMargin > std::max(kWidth, picture.width)) break;
      move(map, x + reach.left, 0);
      picture.maps.push_back(std::move(map));
      reaches.push_back(reach);
      above = std::max(above, reach.above);
      picture.width = std::max(picture.width, right + kMargin);
      x = right + 1.5 * kMargin;
    }
    const double top = bottom + above;
    for (size_t i = begin; i < end; ++i) {
      move(picture.maps[i], 0, top);
      bottom = std::max(bottom, top + reaches[i - begin].below);
    }
    bottom += 1.5 * kMargin;
  }
  picture.height = bottom;
  if (!maps.empty()) add_legend(picture, maps);
  return picture;
}

}  // namespace attend
