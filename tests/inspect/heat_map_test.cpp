#include "attend/inspect/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/inspect/colour_scale.h"
#include "attend/inspect/pooling.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"

namespace attend {
namespace {

TEST(HeatMap, SaysWhichLabelsDoNotFit) {
  HeatMap map = diagonal({"a", "b"}, {"c", "d", "e"});
  map.check();
  map.columns.pop_back();
  EXPECT_EQ(message_of([&] { map.check(); }),
            "heat map 'decoder.0.cross, mean': values are [2, 3], but there are labels for 2 rows "
            "and 2 columns");
  map.values = Tensor();
  expect_error<ShapeError>([&] { map.check(); }, "undefined");
  map.values = Tensor::zeros({4});
  expect_error<ShapeError>([&] { map.check(); }, "[4]");
  map = diagonal({"a"}, {"b"});
  map.most = 0.0f;
  expect_error<DataError>([&] { map.check(); }, "darkest");
}

TEST(HeatMap, LevelsAreWithinTheColours) {
  HeatMap map = map_of({"a"}, {"b", "c", "d", "e"});
  map.values = Tensor::of({0.5f, -1.0f, 9.0f, std::nanf("")}, {1, 4});
  map.most = 2.0f;
  EXPECT_EQ(map.level(0, 0), 0.25f);
  EXPECT_EQ(map.level(0, 1), 0.0f);
  EXPECT_EQ(map.level(0, 2), 1.0f);
  EXPECT_EQ(map.level(0, 3), 0.0f);
  EXPECT_EQ(map.largest(), 9.0f);
  map.has_sign = true;
  EXPECT_EQ(map.level(0, 1), -0.5f);
  EXPECT_EQ(map_of({"a"}, {"b"}).largest(), 1.0f);
}

TEST(HeatMap, AMapOfZerosLeavesTheScaleToOthers) {
  std::vector<HeatMap> maps(2, map_of({"a"}, {"b", "c"}));
  maps[0].values = Tensor::zeros({1, 2});
  share_scale(maps);
  EXPECT_EQ(maps[0].most, 1.0f);
  maps[1].values = Tensor::of({0.02f, 0.01f}, {1, 2});
  share_scale(maps);
  EXPECT_EQ(maps[0].most, 0.02f);
}

TEST(HeatMap, ReadsRowsOfAView) {
  HeatMap map = map_of({"a", "b"}, {"c", "d"});
  map.values = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3}).slice_columns(1, 2);
  EXPECT_EQ(map.at(1, 0), 5.0f);
}

// Relative luminance, as contrast is measured (WCAG).
double luminance(Rgb colour) {
  const auto linear = [](uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

TEST(ColourScale, GetsDarkerOnLightAndLighterOnDark) {
  for (const float sign : {1.0f, -1.0f}) {
    for (int i = 0; i < 64; ++i) {
      const float less = sign * static_cast<float>(i) / 64,
                  more = sign * static_cast<float>(i + 1) / 64;
      EXPECT_GT(luminance(colour_of(less, Theme::kLight)),
                luminance(colour_of(more, Theme::kLight)));
      EXPECT_LT(luminance(colour_of(less, Theme::kDark)), luminance(colour_of(more, Theme::kDark)));
    }
  }
  EXPECT_EQ(colour_of(0.0f, Theme::kLight).text(), "#ffffff");
  EXPECT_EQ(colour_of(1.0f, Theme::kLight).text(), "#2b1b6a");
  EXPECT_EQ(colour_of(-1.0f, Theme::kLight).text(), "#651911");
}

TEST(ColourScale, PassesThroughItsAnchors) {
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    for (size_t i = 0; i < kAnchors; ++i) {
      const float level = static_cast<float>(i) / (kAnchors - 1);
      EXPECT_EQ(colours_above(theme)[i].text(), colour_of(level, theme).text());
      if (i == 0) continue;  // there is no colour below zero
      EXPECT_EQ(colours_below(theme)[i].text(), colour_of(-level, theme).text());
    }
  }
}

TEST(Pooling, KeepsWhatIsFarthestFromZero) {
  HeatMap map = map_of({"a", "b", "c"}, {"d", "e", "f"});
  map.values = Tensor::of({1, -5, 2, 3, 4, 0, -1, 0, 7}, {3, 3});
  const HeatMap small = pooled(map, 2, 2);
  EXPECT_EQ(small.values.to_vector(), (std::vector<float>{-5, 2, -1, 7}));
  EXPECT_EQ(small.rows, (std::vector<std::string>{"1-2", "3-3"}));
  const HeatMap flat = pooled(map, 1, 2);
  EXPECT_EQ(flat.rows, map.rows);
  EXPECT_EQ(flat.values.to_vector(), (std::vector<float>{-5, 2, 4, 0, -1, 7}));
}

}  // namespace
}  // namespace attend
