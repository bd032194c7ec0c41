// The colours of values in every picture: from the background to a deep colour, in equal steps of
// lightness (OKLab), so that they can be told apart on light and dark, and by colour-blind readers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace attend {

// A colour.
struct Rgb {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Rgb&) const = default;
  std::string text() const;  // "#2b1b6a"
};

// The background of a picture.
enum class Theme { kLight, kDark };

// The colours of 0, 1/8 ... 1; between them red, green and blue are interpolated.
inline constexpr size_t kAnchors = 9;
using ColourScale = std::array<Rgb, kAnchors>;

// Blue for positive values, orange for negative ones.
const ColourScale& colours_above(Theme theme);
const ColourScale& colours_below(Theme theme);

// The colour of a level in [-1, 1] (HeatMap::level).
Rgb colour_of(float level, Theme theme);

}  // namespace attend
