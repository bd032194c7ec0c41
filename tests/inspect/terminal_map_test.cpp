#include "attend/inspect/terminal_map.h"

#include <gtest/gtest.h>

#include "attend/inspect/text_width.h"
#include "tests/inspect/maps.h"

namespace attend {
namespace {

std::string drawn_terminal(const HeatMap& map, size_t columns,
                           ColourDepth colours = ColourDepth::kNone) {
  return draw_terminal({&map, 1}, {.columns = columns, .colours = colours});
}

HeatMap sentence() {
  return diagonal({"a", "small", "house", "stands", "by", "the", "sea", "."},
                  {"an", "der", "See", "steht", "seit", "1900", "ein", "altes", "klein", "es",
                   "Haus", "im", "Wind", "▁und", "Salz", ".", "</s>"});
}

TEST(TerminalMap, LabelsStandAboveTheirCellsWhereTheyFit) {
  EXPECT_EQ(drawn_terminal(sentence(), 120), R"(decoder.0.cross, mean
        an    der   See   steht seit  1900  ein   altes klein es    Haus  im    Wind  ▁und  Salz  .     </s>
     a  ▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░
 small              ▒▒▒▒▒▒▓▓▓▓▓▓░░░░░░
 house                          ▒▒▒▒▒▒▓▓▓▓▓▓░░░░░░
stands                                      ░░░░░░▓▓▓▓▓▓░░░░░░
    by                                                  ░░░░░░▓▓▓▓▓▓░░░░░░
   the                                                              ░░░░░░▓▓▓▓▓▓▒▒▒▒▒▒
   sea                                                                          ░░░░░░▓▓▓▓▓▓▒▒▒▒▒▒
     .                                                                                      ░░░░░░▒▒▒▒▒▒▒▒▒▒▒▒
)");
}

TEST(TerminalMap, LabelsAreTurnedWhereTheyDoNotFit) {
  EXPECT_EQ(drawn_terminal(sentence(), 80), R"(decoder.0.cross, mean
              s       a k
              t s 1   l l   H   W ▁ S   <
          d S e e 9 e t e   a   i u a   /
        a e e h i 0 i e i e u i n n l   s
        n r e t t 0 n s n s s m d d z . >
     a  ▒▒▒▒░░
 small      ▒▒▓▓░░
 house          ▒▒▓▓░░
stands              ░░▓▓░░
    by                  ░░▓▓░░
   the                      ░░▓▓▒▒
   sea                          ░░▓▓▒▒
     .                              ░░▒▒▒▒
)");
}

TEST(TerminalMap, CellsGetNarrowInANarrowWindow) {
  EXPECT_EQ(drawn_terminal(sentence(), 40), R"(decoder.0.cross, mean
           s   ak
           ts1 ll H W▁S <
         dSee9ete a iua /
        aeehi0ieieuinnl s
        nrett0nsnssmddz.>
     a  ▒▒░
 small    ▒▓░
 house      ▒▓░
stands        ░▓░
    by          ░▓░
   the            ░▓▒
   sea              ░▓▒
     .                ░▒▒
)");
}

TEST(TerminalMap, BandsSayWhichColumnsTheyHave) {
  EXPECT_EQ(drawn_terminal(sentence(), 20), R"(…coder.0.cross, mean
columns 1-9 of 17
           s   ak
           ts1 ll
         dSee9ete
        aeehi0iei
        nrett0nsn
     a  ▒▒░
 small    ▒▓░
 house      ▒▓░
stands        ░▓░
    by          ░
   the
   sea
     .
columns 10-17 of 17
         H W▁S <
         a iua /
        euinnl s
        ssmddz.>
     a
 small
 house
stands
    by  ▓░
   the   ░▓▒
   sea     ░▓▒
     .       ░▒▒
)");
}

TEST(TerminalMap, LongTitlesKeepTheirHead) {
  std::vector<HeatMap> maps(12, diagonal({"a", "b"}, {"x", "y"}));
  for (size_t i = 0; i < maps.size(); ++i) {
    maps[i].title = "decoder.10.attention, head " + std::to_string(i);
  }
  EXPECT_EQ(lines_of(drawn_terminal(maps[3], 20))[0], "…0.attention, head 3");
  const std::string grid = draw_terminal(maps, {.columns = 40});
  for (size_t i = 0; i < maps.size(); ++i) {
    EXPECT_EQ(count(grid, "attention, head " + std::to_string(i) + "\n"), 1u) << grid;
  }
}

TEST(TerminalMap, HardLabelsLeaveCellsInLine) {
  HeatMap map = diagonal(hard_labels(), hard_labels());
  for (float& value : map.values.span()) value = 1.0f;
  for (const size_t columns : {20, 33, 40, 80, 120}) {
    size_t first = 0, rows = 0;
    for (const std::string& line : lines_of(drawn_terminal(map, columns))) {
      EXPECT_LE(columns_of(line), columns) << line;
      const size_t cells = line.find("█");
      if (cells == std::string::npos) continue;
      const size_t begin = columns_of(line.substr(0, cells));
      EXPECT_EQ(begin, rows++ == 0 ? first = begin : first) << line;
    }
    EXPECT_GE(rows, map.rows.size());
  }
}

TEST(TerminalMap, LettersFromRightToLeftKeepTheirColumns) {
  const std::string text = drawn_terminal(diagonal({"a"}, {"של", "ab", "םי"}), 20);
  EXPECT_NE(text.find("\u2068של\u2069"), std::string::npos) << text;
  const HeatMap turned = diagonal({"a"}, {"שלשלשלשלשלש", "ab", "םי"});
  EXPECT_NE(drawn_terminal(turned, 80).find("\u2068ל\u2069 a \u2068ם\u2069\n"), std::string::npos)
      << drawn_terminal(turned, 80);
}

TEST(TerminalMap, TurnedLabelsEndWithAnEllipsis) {
  const auto lines = lines_of(drawn_terminal(diagonal({"a"}, {"internationalization", "b"}), 80));
  ASSERT_EQ(lines.size(), 1u + 12 + 1);
  EXPECT_EQ(lines[1], "   i");
  EXPECT_EQ(lines[12], "   … b");
}

TEST(TerminalMap, NegativeValuesHaveShadesOfTheirOwn) {
  HeatMap map = map_of({"a"}, {"b", "c", "d", "e", "f"});
  map.values = Tensor::of({-1.0f, -0.3f, 0.0f, 0.3f, 1.0f}, {1, 5});
  map.has_sign = true;
  EXPECT_EQ(drawn_terminal(map, 80), "░▒▓█ above 0, .-=# below\n   b c d e f\na  ##--  ▒▒██\n");
  map.has_sign = false;
  EXPECT_EQ(drawn_terminal(map, 80), "   b c d e f\na        ▒▒██\n");
  map.most = 0.5f;
  EXPECT_EQ(lines_of(drawn_terminal(map, 80))[0], "strongest: 0.5");
}

TEST(TerminalMap, MapsWithASignSayHowItLooks) {
  HeatMap map = diagonal({"a", "b"}, {"x", "y"});
  map.has_sign = true;
  map.most = 0.25f;
  EXPECT_EQ(lines_of(drawn_terminal(map, 80))[1], "strongest: 0.25; ░▒▓█ above 0, .-=# below");
  const auto narrow = lines_of(drawn_terminal(map, 30));
  EXPECT_EQ(narrow[1], "strongest: 0.25");
  EXPECT_EQ(narrow[2], "░▒▓█ above 0");
  EXPECT_EQ(narrow[3], ".-=# below");
  const std::string colours = lines_of(drawn_terminal(map, 80, ColourDepth::k24Bit))[1];
  EXPECT_EQ(without_colours(colours), "strongest: 0.25;      above 0,      below");
  EXPECT_NE(colours.find("\x1b[48;2;166;249;253m \x1b[0m above 0"), std::string::npos);
  EXPECT_NE(colours.find("\x1b[48;2;255;230;164m \x1b[0m below"), std::string::npos);
  const std::vector<HeatMap> maps(5, map);
  EXPECT_EQ(count(draw_terminal(maps, {.columns = 80}), "\n░▒▓█ above 0, .-=# below\nrows: a b\n"),
            1u);
}

TEST(TerminalMap, PaintsBackgroundsInColour) {
  HeatMap map = map_of({"a"}, {"b", "c", "d"});
  map.values = Tensor::of({0.0f, 0.0f, 1.0f}, {1, 3});
  EXPECT_EQ(drawn_terminal(map, 80, ColourDepth::k24Bit),
            "   b c d\na  \x1b[48;2;27;27;31m    \x1b[48;2;166;249;253m  \x1b[0m\n");
  EXPECT_EQ(drawn_terminal(map, 80, ColourDepth::k256),
            "   b c d\na  \x1b[48;5;234m    \x1b[48;5;159m  \x1b[0m\n");
}

TEST(TerminalMap, HalfBlocksShowTwoRowsALineWithLabelsOnBothSides) {
  HeatMap map = map_of({"a", "b", "c"}, many_labels(12));
  map.values.data()[0] = map.values.data()[12] = 1.0f;
  const auto lines = lines_of(drawn_terminal(map, 22, ColourDepth::k24Bit));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(without_colours(lines[3]), "a  ▀▀▀▀▀▀▀▀▀▀▀▀  b");
  EXPECT_EQ(without_colours(lines[4]), "c  ▀▀▀▀▀▀▀▀▀▀▀▀");
  EXPECT_EQ(lines[3].substr(0, 58),
            "a  \x1b[38;2;166;249;253;48;2;166;249;253m▀\x1b[38;2;27;27;31;");
  EXPECT_EQ(lines[4].find("48;"), std::string::npos);  // nothing below the last row
}

TEST(TerminalMap, LongTextsArePooledAndSaySo) {
  HeatMap map = map_of(many_labels(2000), many_labels(2000));
  for (size_t i = 0; i < 2000; ++i) map.values.data()[i * 2000 + i] = 1.0f;
  for (const size_t columns : {40, 80, 120}) {
    for (const ColourDepth depth : {ColourDepth::kNone, ColourDepth::k24Bit}) {
      const std::string text = without_colours(drawn_terminal(map, columns, depth));
      const auto lines = lines_of(text);
      EXPECT_LE(lines.size(), 100u);
      for (const std::string& line : lines) EXPECT_LE(columns_of(line), columns) << line;
      EXPECT_EQ(lines[0].substr(0, 27), "each cell is the largest of") << lines[0];
    }
  }
  const auto lines = lines_of(drawn_terminal(map, 80));
  EXPECT_EQ(lines[0], "each cell is the largest of 29 rows x 29 columns");
  EXPECT_EQ(lines[1].substr(0, 40), "           1       233     465     697  ");
  EXPECT_EQ(lines[2], "     1-29  █");
  EXPECT_EQ(lines[3], "    30-58   █");
  EXPECT_EQ(lines.back(), "1973-2000" + std::string(2 + 68, ' ') + "█");
}

TEST(TerminalMap, ManyRowsArePooledAlone) {
  const auto lines = lines_of(drawn_terminal(map_of(many_labels(1000), {"x", "y"}), 80));
  EXPECT_EQ(lines[0], "each cell is the largest of 11 rows x 1 columns");
  EXPECT_EQ(lines[1], "          x y");
  EXPECT_EQ(lines[2], "    1-11");
}

TEST(TerminalMap, OneTokenAndNone) {
  EXPECT_EQ(drawn_terminal(diagonal({"a"}, {"b"}), 80), "decoder.0.cross, mean\n   b\na  ██\n");
  EXPECT_EQ(drawn_terminal(diagonal({}, {"b", "c"}), 80),
            "decoder.0.cross, mean\n(empty: 0 rows, 2 columns)\n");
  EXPECT_EQ(drawn_terminal(diagonal({"a"}, {}), 80),
            "decoder.0.cross, mean\n(empty: 1 rows, 0 columns)\n");
  EXPECT_EQ(draw_terminal({}, {}), "");
  EXPECT_EQ(drawn_terminal(diagonal({"a"}, {"b"}), 0), drawn_terminal(diagonal({"a"}, {"b"}), 20));
}

TEST(TerminalMap, AFewMapsStandSideBySideWithLabels) {
  const HeatMap map = diagonal({"a", "bc"}, {"x", "y"});
  const std::vector<HeatMap> maps = {map, map};
  EXPECT_EQ(draw_terminal(maps, {.columns = 60}), R"(decoder.0.cross, mean  decoder.0.cross, mean
    x y                    x y
 a  ▓▓▒▒                a  ▓▓▒▒
bc  ▒▒▓▓               bc  ▒▒▓▓
)");
}

TEST(TerminalMap, ListsEveryLabelOfSmallMaps) {
  const std::vector<HeatMap> maps(5, sentence());
  const std::string text = draw_terminal(maps, {.columns = 30});
  EXPECT_EQ(text.substr(text.find("rows:")), R"(rows: a small house stands by
  the sea .
columns: an der See steht seit
  1900 ein altes klein es Haus
  im Wind ▁und Salz . </s>
)");
  const std::vector<HeatMap> hard(5, diagonal(hard_labels(), {std::string(50, 'x')}));
  for (const std::string& line : lines_of(draw_terminal(hard, {.columns = 20}))) {
    EXPECT_LE(columns_of(line), 20u) << line;
  }
}

TEST(TerminalMap, ManyMapsAreAGridOfSmallOnes) {
  const std::vector<HeatMap> maps(5, diagonal({"a", "b", "c"}, {"x", "y", "z"}));
  EXPECT_EQ(draw_terminal(maps, {.columns = 80}),
            R"(decoder.0.cross, mean  decoder.0.cross, mean  decoder.0.cross, mean
┌──────┐               ┌──────┐               ┌──────┐
│▓▓▒▒  │               │▓▓▒▒  │               │▓▓▒▒  │
│░░▓▓░░│               │░░▓▓░░│               │░░▓▓░░│
│  ▒▒▓▓│               │  ▒▒▓▓│               │  ▒▒▓▓│
└──────┘               └──────┘               └──────┘

decoder.0.cross, mean  decoder.0.cross, mean
┌──────┐               ┌──────┐
│▓▓▒▒  │               │▓▓▒▒  │
│░░▓▓░░│               │░░▓▓░░│
│  ▒▒▓▓│               │  ▒▒▓▓│
└──────┘               └──────┘
rows: a b c
columns: x y z
)");
  for (const size_t columns : {20, 40, 120}) {
    for (const ColourDepth depth : {ColourDepth::kNone, ColourDepth::k256}) {
      const std::string text = draw_terminal(maps, {.columns = columns, .colours = depth});
      for (const std::string& line : lines_of(without_colours(text))) {
        EXPECT_LE(columns_of(line), columns) << line;
      }
    }
  }
}

}  // namespace
}  // namespace attend
