#include "attend/inspect/terminal_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/inspect/pooling.h"
#include "attend/inspect/terminal_cells.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr size_t kLabelGap = 2;       // between labels and cells
constexpr size_t kTallestLabel = 12;  // turned upright
constexpr size_t kWidestCell = 10;    // to make room for a label above it
constexpr size_t kMostBands = 4;      // past them columns are pooled
constexpr size_t kMostRows = 256;     // past them rows are pooled
constexpr size_t kPooledRows = 96;

// How a map is drawn: what is pooled, then the widths of what stands in a line.
struct Plan {
  size_t pooled_rows = 1, pooled_columns = 1;
  size_t margin = 0;  // of row labels
  size_t cell = 2;
  size_t band = 1;  // columns of the map in a band
  bool halves = false, turned = true;
};

size_t widest(const std::vector<std::string>& labels) {
  size_t columns = 0;
  for (const std::string& label : labels) columns = std::max(columns, columns_of(visible(label)));
  return columns;
}

bool narrow(const std::vector<std::string>& labels) {
  return std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
    const std::string text = visible(label);
    const auto clusters = clusters_of(text);
    return std::all_of(clusters.begin(), clusters.end(),
                       [](const Cluster& cluster) { return cluster.columns <= 1; });
  });
}

size_t margin_of(const HeatMap& map, size_t columns) {
  size_t label = widest(map.rows);
  if (map.rows.size() > kPooledRows) {  // they may become numbers, such as "33-64"
    label = std::max(label, 2 * fmt::formatted_size("{}", map.rows.size()) + 1);
  }
  return std::min(label, std::max<size_t>(columns / 4, 6));
}

size_t parts(size_t whole, size_t part) { return (whole + part - 1) / part; }

Plan plan_of(const HeatMap& map, const TerminalStyle& style) {
  const size_t count = map.columns.size(), label = widest(map.columns);
  Plan plan{.margin = margin_of(map, style.columns), .band = count};
  const size_t marks = map.column_breaks.size();  // a column of the window each
  const size_t taken = plan.margin + kLabelGap + marks;
  const size_t room = style.columns - std::min(taken, style.columns - 1);
  if (map.rows.size() > kMostRows) plan.pooled_rows = parts(map.rows.size(), kPooledRows);
  if (label < kWidestCell && count * (label + 1) <= room) {
    plan.cell = std::max<size_t>(label + 1, 2);
    plan.turned = false;
    return plan;
  }
  if (2 * count <= room) return plan;

  plan.cell = 1;
  const bool colours = style.colours != ColourDepth::kNone;
  const size_t squares = colours ? room - plan.margin - kLabelGap : room;  // between two margins
  if (parts(count, room) > kMostBands) {
    plan.halves = colours;
    plan.pooled_columns = parts(count, squares);
    if (map.rows.size() > kPooledRows) {
      plan.pooled_rows = std::max(plan.pooled_columns, parts(map.rows.size(), kPooledRows));
    }
    return plan;
  }
  if (!narrow(map.columns)) plan.cell = 2;
  plan.halves = colours && plan.cell == 1 && count <= squares;
  // Bands of one size are easier to compare than full ones and a rest.
  plan.band = parts(count, parts(count, room / plan.cell));
  return plan;
}

std::string padded(const std::string& text, size_t columns) {
  return isolated(text) + std::string(columns - columns_of(text), ' ');
}

std::string padded_left(const std::string& text, size_t columns) {
  return std::string(columns - columns_of(text), ' ') + isolated(text);
}

// A map that is drawn by a plan, a band at a time.
class LabelledMap {
 public:
  LabelledMap(const HeatMap& map, const Plan& plan, const TerminalStyle& style)
      : map_(map), plan_(plan), style_(style) {}

  void add_band(TerminalBlock& block, size_t begin) const {
    const size_t count = std::min(plan_.band, map_.columns.size() - begin);
    if (plan_.pooled_columns > 1) {
      add_ruler(block, count);
    } else if (plan_.turned) {
      add_turned_labels(block, begin, count);
    } else {
      add_labels(block, begin, count);
    }
    for (size_t row = 0; row < map_.rows.size(); row += plan_.halves ? 2 : 1) {
      if (!plan_.halves && std::ranges::count(map_.row_breaks, row) > 0) {
        add_break(block, begin, count);
      }
      add_line(block, row, begin, count);
    }
  }

 private:
  // Some columns, with a mark before each that begins a text: all together, and how many marks.
  template <typename Draw>
  std::pair<std::string, size_t> marked(size_t begin, size_t count, std::string_view mark,
                                        const Draw& draw) const {
    std::string line;
    size_t marks = 0, from = begin;
    for (const size_t column : map_.column_breaks) {
      if (column <= begin || column >= begin + count) continue;
      line += draw(from, column - from);
      line += mark;
      from = column;
      ++marks;
    }
    line += draw(from, begin + count - from);
    return {std::move(line), marks};
  }

  // Where one text ends and the next begins.
  void add_break(TerminalBlock& block, size_t begin, size_t count) const {
    const auto [line, marks] = marked(begin, count, "┼", [&](size_t, size_t columns) {
      std::string edge;
      for (size_t i = 0; i < columns * plan_.cell; ++i) edge += "─";
      return edge;
    });
    block.add(indent() + line, plan_.margin + kLabelGap + count * plan_.cell + marks);
  }

  std::string indent() const { return std::string(plan_.margin + kLabelGap, ' '); }

  std::string row_label(size_t row) const { return cut_to(visible(map_.rows[row]), plan_.margin); }

  void add_labels(TerminalBlock& block, size_t begin, size_t count) const {
    const auto [line, marks] = marked(begin, count, " ", [&](size_t first, size_t columns) {
      std::string labels;
      for (size_t i = first; i < first + columns; ++i) {
        labels += padded(visible(map_.columns[i]), plan_.cell);
      }
      return labels;
    });
    block.add(indent() + line, plan_.margin + kLabelGap + count * plan_.cell + marks);
  }

  // Letter below letter, the last ones in one line.
  void add_turned_labels(TerminalBlock& block, size_t begin, size_t count) const {
    std::vector<std::vector<std::string>> labels(count);
    size_t height = 0;
    for (size_t i = 0; i < count; ++i) {
      const std::string text = visible(map_.columns[begin + i]);
      for (const Cluster& cluster : clusters_of(text)) {
        labels[i].push_back(cut_to(cluster.text, plan_.cell));
      }
      if (labels[i].size() > kTallestLabel) {
        labels[i].resize(kTallestLabel - 1);
        labels[i].emplace_back("…");
      }
      height = std::max(height, labels[i].size());
    }
    for (size_t level = height; level > 0; --level) {
      const auto [line, marks] = marked(begin, count, " ", [&](size_t first, size_t columns) {
        std::string part;
        for (size_t i = first - begin; i < first - begin + columns; ++i) {
          const auto& letters = labels[i];
          part += padded(level > letters.size() ? "" : letters[letters.size() - level], plan_.cell);
        }
        return part;
      });
      block.add(indent() + line, plan_.margin + kLabelGap + count * plan_.cell + marks);
    }
  }

  // The numbers of columns where there are too many for labels.
  void add_ruler(TerminalBlock& block, size_t count) const {
    constexpr size_t kEvery = 8;
    std::string line = indent();
    for (size_t i = 0; i + 4 < count; i += kEvery) {
      line += fmt::format("{:<{}}", 1 + i * plan_.pooled_columns, kEvery);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    block.add(std::move(line));
  }

  void add_line(TerminalBlock& block, size_t row, size_t begin, size_t count) const {
    std::string line = padded_left(row_label(row), plan_.margin) + std::string(kLabelGap, ' ');
    const auto [cells, marks] = marked(begin, count, "│", [&](size_t first, size_t width) {
      return draw_cells(map_, {row, first, width, plan_.cell, plan_.halves}, style_);
    });
    line += cells;
    size_t columns = plan_.margin + kLabelGap + count * plan_.cell + marks;
    if (plan_.halves && row + 1 < map_.rows.size()) {
      const std::string label = row_label(row + 1);
      line += std::string(kLabelGap, ' ') + isolated(label);
      columns += kLabelGap + columns_of(label);
    }
    block.add(std::move(line), columns);
  }

  const HeatMap& map_;
  const Plan& plan_;
  const TerminalStyle& style_;
};

// A title ends with what tells it from others: "decoder.0.cross, head 3".
void add_title(TerminalBlock& block, const HeatMap& map, size_t columns) {
  if (!map.title.empty()) block.add(isolated(cut_front_to(visible(map.title), columns)));
}

void add_axes(TerminalBlock& block, const HeatMap& map, size_t columns) {
  if (map.row_axis.empty()) return;
  block.add(
      cut_to(fmt::format("{} \u2193 {} \u2192", visible(map.row_axis), visible(map.column_axis)),
             columns));
}

std::string strongest(const HeatMap& map) {
  if (!map.row_most.empty()) return "each row has its own scale";
  return map.most == 1.0f ? "" : fmt::format("strongest: {:.3g}", map.most);
}

void add_pooling(TerminalBlock& block, const Plan& plan, size_t columns) {
  if (plan.pooled_rows > 1 || plan.pooled_columns > 1) {
    block.add(cut_to(fmt::format("each cell is the largest of {} rows x {} columns",
                                 plan.pooled_rows, plan.pooled_columns),
                     columns));
  }
}

bool add_nothing(TerminalBlock& block, const HeatMap& map, size_t columns) {
  if (!map.rows.empty() && !map.columns.empty()) return false;
  block.add(cut_to(fmt::format("(empty: {} rows, {} columns)", map.rows.size(), map.columns.size()),
                   columns));
  return true;
}

}  // namespace

void TerminalBlock::add(std::string line, size_t columns) {
  lines.push_back(std::move(line));
  used.push_back(columns);
  width = std::max(width, columns);
}

void TerminalBlock::add(std::string line) {
  const size_t columns = columns_of(line);
  add(std::move(line), columns);
}

void add_sign_key(TerminalBlock& block, const std::string& before, const TerminalStyle& style) {
  const KeyCells cells = key_cells(style);
  const std::string above = " above 0", below = " below",
                    start = before.empty() ? "" : before + "; ";
  const size_t above_width = kKeyCells + above.size(), below_width = kKeyCells + below.size();
  const size_t width = start.size() + above_width + 2 + below_width;
  if (width <= style.columns) {
    block.add(start + cells.above + above + ", " + cells.below + below, width);
    return;
  }
  if (!before.empty()) block.add(before);
  block.add(cells.above + above, above_width);
  block.add(cells.below + below, below_width);
}

bool fits_labelled(const HeatMap& map, size_t columns) {
  return map.rows.size() <= kMostRows && columns >= 20 &&
         margin_of(map, columns) + kLabelGap + map.column_breaks.size() + 2 * map.columns.size() <=
             columns;
}

TerminalBlock labelled_block(const HeatMap& map, const TerminalStyle& style) {
  TerminalBlock block;
  add_title(block, map, style.columns);
  add_axes(block, map, style.columns);
  if (add_nothing(block, map, style.columns)) return block;
  Plan plan = plan_of(map, style);
  const std::string scale = strongest(map);
  if (map.has_sign) {
    add_sign_key(block, scale, style);
  } else if (!scale.empty()) {
    block.add(scale);
  }
  add_pooling(block, plan, style.columns);
  const HeatMap shown = pooled(map, plan.pooled_rows, plan.pooled_columns);
  if (plan.pooled_rows > 1) plan.margin = margin_of(shown, style.columns);
  const LabelledMap labelled(shown, plan, style);
  const size_t count = shown.columns.size();
  for (size_t begin = 0; begin < count; begin += plan.band) {
    if (plan.band < count) {
      block.add(
          fmt::format("columns {}-{} of {}", begin + 1, std::min(begin + plan.band, count), count));
    }
    labelled.add_band(block, begin);
  }
  return block;
}

TerminalBlock small_block(const HeatMap& map, const TerminalStyle& style, size_t title) {
  TerminalBlock block;
  const bool colours = style.colours != ColourDepth::kNone;
  const size_t frame = colours ? 0 : 2;  // without colours a map has no border to be seen
  const size_t room = style.columns - frame;
  const bool wide = 2 * map.columns.size() <= room;
  Plan plan{.cell = wide ? 2u : 1u, .halves = colours && !wide};
  if (!map.columns.empty()) plan.pooled_columns = parts(map.columns.size(), room);
  if (map.rows.size() > kPooledRows) plan.pooled_rows = parts(map.rows.size(), kPooledRows);
  const HeatMap shown = pooled(map, plan.pooled_rows, plan.pooled_columns);
  const size_t count = shown.columns.size(), width = count * plan.cell;
  add_title(block, map, std::max(title, width + frame));
  if (add_nothing(block, map, style.columns)) return block;
  if (const std::string scale = strongest(map); !scale.empty()) block.add(scale);
  add_pooling(block, plan, style.columns);
  std::string edge;
  for (size_t i = 0; i < width; ++i) edge += "─";
  if (!colours) block.add("┌" + edge + "┐", width + frame);
  for (size_t row = 0; row < shown.rows.size(); row += plan.halves ? 2 : 1) {
    const std::string cells = draw_cells(shown, {row, 0, count, plan.cell, plan.halves}, style);
    block.add(colours ? cells : "│" + cells + "│", width + frame);
  }
  if (!colours) block.add("└" + edge + "┘", width + frame);
  return block;
}

}  // namespace attend
