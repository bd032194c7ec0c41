// The colours of values, for every picture: from the background to a deep colour in steps of equal
// lightness (OKLab), so that they are told apart on light and dark, and without seeing all colours.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace attend {

struct Rgb {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Rgb&) const = default;
  std::string text() const;  // "#2b1b6a"
};

enum class Theme { kLight, kDark };

// Colours of 0, 1/8 ... 1; between them each of red, green and blue is linear.
inline constexpr size_t kAnchors = 9;
using ColourScale = std::array<Rgb, kAnchors>;

// Blue for values above zero; orange below.
const ColourScale& colours_above(Theme theme);
const ColourScale& colours_below(Theme theme);

// The colour of a level in [-1, 1] (HeatMap::level).
Rgb colour_of(float level, Theme theme);

}  // namespace attend
