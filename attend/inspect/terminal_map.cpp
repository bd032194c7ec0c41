#include "attend/inspect/terminal_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/inspect/pooling.h"
#include "attend/inspect/terminal_block.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr size_t kMapGap = 2;       // between maps
constexpr size_t kSmallest = 20;    // columns of a window
constexpr size_t kSmallMap = 38;    // columns of a map without labels: two fit in 80
constexpr size_t kIndent = 2;       // of the further lines of a list
constexpr size_t kSmallTitle = 24;  // such a map is at least as wide as its title, up to this

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (std::string line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

// Blocks from left to right, the tops in one line.
void append_row(std::vector<std::string>& lines, std::span<const TerminalBlock> blocks) {
  size_t height = 0;
  for (const TerminalBlock& block : blocks) height = std::max(height, block.lines.size());
  for (size_t i = 0; i < height; ++i) {
    std::string line;
    for (const TerminalBlock& block : blocks) {
      const std::string part = i < block.lines.size() ? block.lines[i] : "";
      const size_t used = i < block.lines.size() ? block.used[i] : 0;
      line += part + std::string(block.width - used + kMapGap, ' ');
    }
    lines.push_back(std::move(line));
  }
}

// "rows:", or "rows (target):".
std::string list_name(std::string_view what, const std::string& axis) {
  return axis.empty() ? fmt::format("{}:", what) : fmt::format("{} ({}):", what, visible(axis));
}

void append_label_list(std::vector<std::string>& lines, const std::string& name,
                       const std::vector<std::string>& labels, size_t columns) {
  std::vector<std::string> words = {name};
  for (const std::string& label : labels) {
    words.push_back(isolated(cut_to(visible(label), columns - kIndent)));
  }
  const std::vector<std::string> list = wrapped(words, columns, kIndent);
  lines.insert(lines.end(), list.begin(), list.end());
}

// Once for all maps: it may be wider than they are.
void append_key(std::vector<std::string>& lines, const TerminalStyle& style) {
  TerminalBlock key;
  add_sign_key(key, "", style);
  lines.insert(lines.end(), key.lines.begin(), key.lines.end());
}

// Whether every map stands beside the others with its labels, in so many columns each.
bool fit_with_labels(std::span<const HeatMap> maps, size_t columns) {
  return std::all_of(maps.begin(), maps.end(),
                     [&](const HeatMap& map) { return fits_labelled(map, columns); });
}

std::vector<std::string> grid(std::span<const HeatMap> maps, const TerminalStyle& style) {
  std::vector<TerminalBlock> blocks;
  TerminalStyle each = style;
  each.columns = (style.columns - kMapGap * (maps.size() - 1)) / maps.size();
  const bool labelled =
      kMapGap * maps.size() < style.columns && fit_with_labels(maps, each.columns);
  if (!labelled) each.columns = std::min(style.columns, kSmallMap);
  for (const HeatMap& map : maps) {
    blocks.push_back(labelled ? labelled_block(map, each)
                              : small_block(map, each, std::min(kSmallTitle, each.columns)));
  }
  std::vector<std::string> lines;
  for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
    size_t width = blocks[begin].width;
    for (end = begin + 1; end < blocks.size(); ++end) {
      width += kMapGap + blocks[end].width;
      if (width > style.columns) break;
    }
    if (begin > 0) lines.emplace_back();
    append_row(lines, {blocks.data() + begin, end - begin});
  }
  const bool shared = std::all_of(maps.begin(), maps.end(), [&](const HeatMap& map) {
    return map.rows == maps.front().rows && map.columns == maps.front().columns;
  });
  if (!labelled && std::ranges::any_of(maps, &HeatMap::has_sign)) append_key(lines, style);
  if (!labelled && shared) {
    const HeatMap& map = maps.front();
    append_label_list(lines, list_name("rows", map.row_axis), map.rows, style.columns);
    append_label_list(lines, list_name("columns", map.column_axis), map.columns, style.columns);
  }
  return lines;
}

}  // namespace

std::string draw_terminal(std::span<const HeatMap> maps, const TerminalStyle& style) {
  for (const HeatMap& map : maps) map.check();
  TerminalStyle window = style;
  window.columns = std::max(style.columns, kSmallest);
  if (maps.empty()) return "";
  if (maps.size() == 1) return text_of(labelled_block(maps.front(), window).lines);
  return text_of(grid(maps, window));
}

}  // namespace attend
