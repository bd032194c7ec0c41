#include "attend/inspect/png_map.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "attend/inspect/colour_scale.h"
#include "attend/inspect/picture.h"
#include "tests/inspect/maps.h"

namespace attend {
namespace {

// A PNG of three bytes a pixel, as it is written of large maps.
struct Pixels {
  size_t width = 0, height = 0;
  std::string lines;

  explicit Pixels(const std::string& file) {
    const auto number = [&](size_t at) {
      size_t value = 0;
      for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(file[at + i]);
      return value;
    };
    width = number(16);
    height = number(20);
    lines.resize((3 * width + 1) * height);
    const size_t data = file.find("IDAT");
    uLongf size = lines.size();
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(lines.data()), &size,
                         reinterpret_cast<const Bytef*>(file.data()) + data + 4, number(data - 4)),
              Z_OK);
  }

  Rgb at(size_t x, size_t y) const {
    const auto* pixel =
        reinterpret_cast<const unsigned char*>(lines.data()) + y * (3 * width + 1) + 1 + 3 * x;
    return {pixel[0], pixel[1], pixel[2]};
  }
};

TEST(PngMap, LargeMapsHaveTheColoursOfTheirCells) {
  HeatMap map = map_of(many_labels(70), many_labels(80));
  map.has_sign = true;
  for (size_t i = 0; i < map.values.size(); ++i) {
    map.values.span()[i] = static_cast<float>(i % 511) / 255.0f - 1.0f;
  }
  const Pixels picture(draw_png({&map, 1}, 2.0));
  const PlacedMap place = lay_out({&map, 1}).maps.front();
  for (size_t row = 0; row < 70; ++row) {
    for (size_t column = 0; column < 80; ++column) {
      const auto middle = [&](double from, size_t cell) {
        return static_cast<size_t>(2 * (from + (static_cast<double>(cell) + 0.5) * place.cell));
      };
      const Rgb shown = picture.at(middle(place.x, column), middle(place.y, row));
      const Rgb expected = colour_of(map.level(row, column), Theme::kLight);
      ASSERT_NEAR(shown.red, expected.red, 1) << row << " " << column;
      ASSERT_NEAR(shown.green, expected.green, 1) << row << " " << column;
      ASSERT_NEAR(shown.blue, expected.blue, 1) << row << " " << column;
    }
  }
}

TEST(PngMap, AVeryLargeMapIsAsLargeAsItsCells) {
  const HeatMap map = diagonal(many_labels(2500), many_labels(2500));
  const Pixels picture(draw_png({&map, 1}));
  EXPECT_GE(picture.width, 2500u);
  EXPECT_LT(picture.width, 3000u);
}

}  // namespace
}  // namespace attend
