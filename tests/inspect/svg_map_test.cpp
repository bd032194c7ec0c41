#include "attend/inspect/svg_map.h"

#include <gtest/gtest.h>

#include "attend/inspect/picture.h"
#include "attend/inspect/text_width.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/xml.h"

namespace attend {
namespace {

std::string drawn_svg(const HeatMap& map) { return draw_svg({&map, 1}); }

TEST(XmlReader, FindsWhatIsWrong) {
  EXPECT_EQ(XmlReader("<a b=\"c\"><d/>x &lt;</a>\n").problem(), "");
  for (const char* bad : {"<a>", "<a></b>", "<a b=c/>", "<a>&</a>", "<a b=\"<\"/>", "<a/><a/>",
                          "<a>\x01</a>", "<a>\xff</a>", "< a/>"}) {
    EXPECT_NE(XmlReader(bad).problem(), "") << bad;
  }
}

TEST(SvgMap, IsWellFormedWhateverTheLabels) {
  auto labels = hard_labels();
  labels.insert(labels.end(), {"<script>alert(1)</script>", "a&b", "\"'", "]]>", "\uffff", "-->"});
  HeatMap map = diagonal(labels, labels);
  map.title = "<&>\"\x02";
  EXPECT_EQ(XmlReader(drawn_svg(map)).problem(), "");
  map.has_sign = true;
  const std::vector<HeatMap> maps(5, map);
  EXPECT_EQ(XmlReader(draw_svg(maps)).problem(), "");
  EXPECT_NE(drawn_svg(map).find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_EQ(drawn_svg(map).find("<script"), std::string::npos);
}

TEST(SvgMap, ACellSaysItsRowColumnAndValue) {
  HeatMap map = map_of({"the", "שלום"}, {"das", "Haus"});
  map.values = Tensor::of({0.25f, 0.75f, 1.0f, 0.0f}, {2, 2});
  const std::string svg = drawn_svg(map);
  EXPECT_EQ(count(svg, "<rect class=\"p"), 4u);
  EXPECT_NE(svg.find("<title>the → Haus: 0.75</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>\u2068שלום\u2069 → das: 1</title>"), std::string::npos);
  EXPECT_NE(svg.find("class=\"p64\" fill=\"#2b1b6a\" x=\"0\" y=\"22\""), std::string::npos) << svg;
  EXPECT_NE(svg.find(".p64{fill:#a6f9fd}"), std::string::npos);  // in the dark
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(SvgMap, NeedsNothingFromElsewhere) {
  const std::string svg = drawn_svg(diagonal(many_labels(100), many_labels(100)));
  EXPECT_EQ(count(svg, "http"), 1u);  // the name of the format
  EXPECT_EQ(count(svg, "href=\"data:image/png;base64,"), 1u);
  EXPECT_EQ(count(svg, "href="), 1u);
}

TEST(SvgMap, LongTextsAreImages) {
  HeatMap map = map_of(many_labels(2000), many_labels(2000));
  uint32_t state = 1;
  for (float& value : map.values.span()) {
    value = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / (1 << 24);
  }
  const std::string svg = drawn_svg(map);
  EXPECT_LT(svg.size(), 6u << 20);  // noise, which no compression makes smaller
  EXPECT_EQ(count(svg, "<image "), 1u);
  EXPECT_EQ(XmlReader(svg).problem(), "");
  EXPECT_NE(svg.find(">1991 t1990</text>"), std::string::npos);  // not all labels have room
  EXPECT_EQ(svg.find(">1992 t1991</text>"), std::string::npos);
}

TEST(SvgMap, EmptyAndNone) {
  EXPECT_NE(drawn_svg(diagonal({}, {"a", "b"})).find("(empty: 0 rows, 2 columns)"),
            std::string::npos);
  EXPECT_EQ(XmlReader(drawn_svg(diagonal({}, {}))).problem(), "");
  EXPECT_EQ(XmlReader(draw_svg({})).problem(), "");
  EXPECT_EQ(count(drawn_svg(diagonal({"a"}, {"b"})), "<rect class=\"p"), 1u);
}

// Everything within the picture, and no map upon another.
void expect_room(std::span<const HeatMap> maps) {
  const Picture picture = lay_out(maps);
  ASSERT_EQ(picture.maps.size(), maps.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    const PlacedMap& map = picture.maps[i];
    const double right = map.x + map.cell * static_cast<double>(map.columns);
    const double bottom = map.y + map.cell * static_cast<double>(map.rows);
    EXPECT_LE(right, picture.width);
    EXPECT_LE(bottom, picture.legend.y);
    for (const PlacedText& label : map.row_labels) {
      const double length = 0.6 * label.size * static_cast<double>(columns_of(label.text));
      EXPECT_GE(label.x - length, 0) << label.text;
    }
    for (const PlacedText& label : map.column_labels) {
      const double length = 0.6 * label.size * static_cast<double>(columns_of(label.text));
      EXPECT_GE(label.y - (label.turned == 0 ? 0 : length * (label.turned == 45 ? 0.71 : 1)), 0);
      EXPECT_LE(label.x + (label.turned == 45 ? 0.71 * length : 0), picture.width) << label.text;
    }
    for (size_t j = 0; j < i; ++j) {
      const PlacedMap& other = picture.maps[j];
      const bool beside = map.x >= other.x + other.cell * static_cast<double>(other.columns);
      const bool below = map.y >= other.y + other.cell * static_cast<double>(other.rows);
      EXPECT_TRUE(beside || below) << i << " and " << j;
    }
  }
}

TEST(Picture, EverythingHasRoom) {
  for (const size_t size : {0, 1, 5, 40, 100, 700}) {
    for (const size_t maps : {1, 2, 7}) {
      expect_room(std::vector<HeatMap>(maps, diagonal(many_labels(size), many_labels(size / 2))));
    }
  }
  std::vector<std::string> labels(9, "a label of more than ordinary length");
  expect_room(std::vector<HeatMap>(3, diagonal(labels, labels)));
  expect_room(std::vector<HeatMap>(1, diagonal(hard_labels(), hard_labels())));
}

TEST(Picture, LabelsAreTurnedOnlyWhereTheyMust) {
  const auto turned = [](std::vector<std::string> columns) {
    const HeatMap map = diagonal({"a"}, std::move(columns));
    return lay_out({&map, 1}).maps[0].column_labels[0].turned;
  };
  EXPECT_EQ(turned({"a", "bc"}), 0);
  EXPECT_EQ(turned({"a", "house"}), 45);
  EXPECT_EQ(turned(many_labels(100)), 90);
}

}  // namespace
}  // namespace attend
