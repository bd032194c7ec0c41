#include "attend/inspect/terminal_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace attend {
namespace {

constexpr std::array<std::string_view, 5> kAbove = {" ", "░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 5> kBelow = {" ", ".", "-", "=", "#"};
constexpr std::array<float, 4> kFrom = {1.0f / 16, 1.0f / 4, 1.0f / 2, 3.0f / 4};  // of each shade

std::string_view shade(float level) {
  const size_t step = std::upper_bound(kFrom.begin(), kFrom.end(), std::abs(level)) - kFrom.begin();
  return level < 0.0f ? kBelow[step] : kAbove[step];
}

// The nearest of the 240 colours that all terminals with 256 agree on: a cube and greys.
int nearest_of_256(Rgb colour) {
  constexpr std::array<int, 6> kLevels = {0, 95, 135, 175, 215, 255};
  int best = 16, least = 1 << 30;
  const auto consider = [&](int index, int red, int green, int blue) {
    const int r = colour.red - red, g = colour.green - green, b = colour.blue - blue;
    const int distance = 3 * r * r + 6 * g * g + b * b;  // the eye's weights
    if (distance < least) best = index, least = distance;
  };
  for (int i = 0; i < 216; ++i)
    consider(16 + i, kLevels[i / 36], kLevels[i / 6 % 6], kLevels[i % 6]);
  for (int i = 0; i < 24; ++i) consider(232 + i, 8 + 10 * i, 8 + 10 * i, 8 + 10 * i);
  return best;
}

// 24 bits: the colour; 256: its index. What escape sequences of neighbours are compared by.
std::string parameters(Rgb colour, ColourDepth depth) {
  if (depth == ColourDepth::k256) return fmt::format("5;{}", nearest_of_256(colour));
  return fmt::format("2;{};{};{}", colour.red, colour.green, colour.blue);
}

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string coloured_cells(const HeatMap& map, const CellLine& line, const TerminalStyle& style) {
  const auto colour = [&](size_t row, size_t column) {
    return parameters(colour_of(map.level(row, column), style.theme), style.colours);
  };
  const bool lower = line.halves && line.row + 1 < map.rows.size();
  const std::string cell = repeated(line.halves ? "▀" : " ", line.width);
  std::string text, last;
  for (size_t column = line.begin; column < line.begin + line.count; ++column) {
    std::string escape =
        "\x1b[" + std::string(line.halves ? "38;" : "48;") + colour(line.row, column);
    if (lower) escape += ";48;" + colour(line.row + 1, column);
    escape += 'm';
    if (escape != last) text += escape;
    text += cell;
    last = std::move(escape);
  }
  return text.append(kColoursOff);
}

// Whether black reads better on a colour than white.
bool wants_black(Rgb colour) {
  return 299 * colour.red + 587 * colour.green + 114 * colour.blue > 140'000;
}

}  // namespace

std::string draw_cells(const HeatMap& map, const CellLine& line, const TerminalStyle& style) {
  if (style.colours != ColourDepth::kNone) return coloured_cells(map, line, style);
  std::string text;
  for (size_t column = line.begin; column < line.begin + line.count; ++column) {
    text += repeated(shade(map.level(line.row, column)), line.width);
  }
  return text;
}

std::string background(Rgb colour, ColourDepth depth) {
  if (depth == ColourDepth::kNone) return "";
  return fmt::format("\x1b[48;{};38;5;{}m", parameters(colour, depth),
                     wants_black(colour) ? 16 : 231);
}

std::string_view shade_of(float level) { return shade(level); }

KeyCells key_cells(const TerminalStyle& style) {
  HeatMap key{.rows = {"above", "below"}, .columns = std::vector<std::string>(kKeyCells)};
  key.has_sign = true;
  key.values = Tensor::of({0.2f, 0.4f, 0.6f, 1.0f, -0.2f, -0.4f, -0.6f, -1.0f}, {2, kKeyCells});
  const auto cells = [&](size_t row) { return draw_cells(key, {row, 0, kKeyCells, 1}, style); };
  return {cells(0), cells(1)};
}

}  // namespace attend
