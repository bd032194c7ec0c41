#include "attend/inspect/colour_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

constexpr Rgb rgb(uint32_t hex) {
  return {static_cast<uint8_t>(hex >> 16), static_cast<uint8_t>(hex >> 8),
          static_cast<uint8_t>(hex)};
}

constexpr ColourScale scale_of(const std::array<uint32_t, kAnchors>& hex) {
  ColourScale scale;
  for (size_t i = 0; i < kAnchors; ++i) scale[i] = rgb(hex[i]);
  return scale;
}

constexpr ColourScale kLightAbove = scale_of(
    {0xffffff, 0xc1eafa, 0x8bd0f5, 0x61b3ec, 0x4a94db, 0x4374c0, 0x3c56a5, 0x353988, 0x2b1b6a});
constexpr ColourScale kLightBelow = scale_of(
    {0xffffff, 0xf8dfc4, 0xefbe92, 0xe29d67, 0xce7f4a, 0xb4643a, 0x9a4b2c, 0x7f321e, 0x651911});
constexpr ColourScale kDarkAbove = scale_of(
    {0x1b1b1f, 0x282d4c, 0x2e4577, 0x2a619e, 0x2880b9, 0x3f9fcb, 0x5dbddc, 0x80dbec, 0xa6f9fd});
constexpr ColourScale kDarkBelow = scale_of(
    {0x1b1b1f, 0x48251d, 0x6f331b, 0x934712, 0xb16216, 0xc78233, 0xdca250, 0xf0c46f, 0xffe6a4});

}  // namespace

std::string Rgb::text() const { return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue); }

const ColourScale& colours_above(Theme theme) {
  return theme == Theme::kLight ? kLightAbove : kDarkAbove;
}

const ColourScale& colours_below(Theme theme) {
  return theme == Theme::kLight ? kLightBelow : kDarkBelow;
}

Rgb colour_of(float level, Theme theme) {
  const ColourScale& scale = level < 0.0f ? colours_below(theme) : colours_above(theme);
  const float place = std::min(std::abs(level), 1.0f) * (kAnchors - 1);
  const size_t low = std::min(static_cast<size_t>(place), kAnchors - 2);
  const float part = place - static_cast<float>(low);
  const auto between = [part](uint8_t a, uint8_t b) {
    const float mixed =
        static_cast<float>(a) + part * (static_cast<float>(b) - static_cast<float>(a));
    return static_cast<uint8_t>(std::lround(mixed));
  };
  const Rgb &a = scale[low], &b = scale[low + 1];
  return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}

}  // namespace attend
