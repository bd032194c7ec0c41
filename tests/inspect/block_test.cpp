// Blocks of the maps of a sequence that several are read as: what one part sees of another.
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/draw.h"
#include "attend/inspect/overview.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/trace_texts.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

// Two layers of two heads that read two texts as one.
TextModel small_pair_model() {
  ModelConfig config("label");
  auto& label = config.settings.as<LabelConfig>();
  label.pair = true;
  make_small(label.encoder.settings.as<TransformerConfig>());
  return small_model(config);
}

Trace pair_trace(const TextModel& model) {
  return given_trace(model, {{"text", "abc"}, {"pair", "de"}, {"label", "a"}});
}

TEST(Block, IsWhatOneTextSeesOfTheOther) {
  const TextModel model = small_pair_model();
  const Trace trace = pair_trace(model);
  const std::string layer = trace.layers.front().name;
  const Tensor whole = attention_map(model, trace, layer, {HeadChoice::Kind::kOne, 1});
  const size_t first = trace.sequence("text").size(), second = trace.sequence("pair").size();
  ASSERT_EQ(whole.extent(0), first + second);
  for (const SequencePair& pair : blocks_of(trace)) {
    const auto block = block_between(trace, pair);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->whole, (SequencePair{"texts", "texts"}));
    const Tensor part = block->of(whole);
    const size_t row = pair.queries == "text" ? 0 : first;
    const size_t column = pair.keys == "text" ? 0 : first;
    ASSERT_EQ(part.extent(0), trace.sequence(pair.queries).size());
    ASSERT_EQ(part.extent(1), trace.sequence(pair.keys).size());
    EXPECT_EQ(part.to_vector().front(), whole.data()[row * whole.stride() + column]);
  }
}

TEST(Block, PairsOfTwoTextsComeFirst) {
  const TextModel model = small_pair_model();
  const Trace trace = pair_trace(model);
  const std::vector<SequencePair> expected = {
      {"text", "pair"}, {"pair", "text"}, {"text", "text"}, {"pair", "pair"}};
  EXPECT_EQ(blocks_of(trace), expected);
  EXPECT_EQ(chosen_block(trace, "pair", ""), (SequencePair{"pair", "text"}));
  EXPECT_EQ(chosen_block(trace, "", "text"), (SequencePair{"pair", "text"}));
  EXPECT_EQ(chosen_block(trace, "", ""), std::nullopt);
  EXPECT_EQ(chosen_block(trace, "texts", "texts"), std::nullopt);
  EXPECT_EQ(chosen_block(trace, "label", "text"), std::nullopt);
  const TextModel single = small_label_model(LabelPooling::kFirst);
  EXPECT_TRUE(blocks_of(given_trace(single, "abc", "a")).empty());
  const TextModel joined = small_decoder_only_model();
  EXPECT_EQ(chosen_block(given_trace(joined, "ab", "c"), "target", "source"),
            (SequencePair{"target", "source"}));
}

TEST(Block, IsCutOutOfPictures) {
  const TextModel model = small_pair_model();
  const Trace trace = pair_trace(model);
  std::vector<HeatMap> heads = head_pictures(model, trace, trace.layers.front().name);
  EXPECT_EQ(heads[0].row_breaks, (std::vector<size_t>{trace.sequence("text").size()}));
  EXPECT_EQ(heads[0].column_breaks, heads[0].row_breaks);
  const std::vector<HeatMap> whole = heads;
  cut_to_block(heads, trace, {"pair", "text"});
  ASSERT_EQ(heads.size(), 2u);
  const std::vector<std::string> rows = texts(trace.sequence("pair").items);
  EXPECT_EQ(heads[1].rows, rows);
  EXPECT_EQ(heads[1].columns, texts(trace.sequence("text").items));
  EXPECT_TRUE(heads[1].row_breaks.empty());
  EXPECT_EQ(heads[1].at(0, 1), whole[1].at(trace.sequence("text").size(), 1));
  EXPECT_NE(heads[1].title.find("pair -> text"), std::string::npos);
  EXPECT_EQ(heads[0].most, heads[1].most);
  expect_error<ConfigError>([&] { cut_to_block(heads, trace, {"text", "label"}); }, "no block");
}

TEST(Block, LinesShowWhereTheSecondTextBegins) {
  const TextModel model = small_pair_model();
  const Trace trace = pair_trace(model);
  const HeatMap map = attention_picture(model, trace, trace.layers.front().name);
  EXPECT_EQ(count(draw_maps({&map, 1}, PictureFormat::kSvg), "class=\"break\""), 1u);
  for (const ColourDepth depth : {ColourDepth::kNone, ColourDepth::k24Bit}) {
    const std::string text =
        draw_maps({&map, 1}, PictureFormat::kTerminal, {.columns = 60, .colours = depth});
    EXPECT_EQ(count(text, "┼"), 1u) << text;
    EXPECT_EQ(count(text, "│"), map.rows.size()) << text;
  }
  for (size_t columns = 20; columns < 40; ++columns) {  // in bands, too
    const std::string text = draw_maps({&map, 1}, PictureFormat::kTerminal, {.columns = columns});
    for (const std::string& line : lines_of(text)) {
      const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
      EXPECT_LE(static_cast<size_t>(std::ranges::count_if(line, starts)), columns) << line;
    }
  }
  HeatMap block = map;
  cut_to_block({&block, 1}, trace, {"text", "pair"});
  EXPECT_EQ(count(draw_maps({&block, 1}, PictureFormat::kSvg), "class=\"break\""), 0u);
}

TEST(Block, ThumbnailsAndEntropiesAreOfTheBlock) {
  const TextModel model = small_pair_model();
  const Trace trace = pair_trace(model);
  const Thumbnails all = thumbnails(model, trace, {"text", "pair"}, 32);
  EXPECT_EQ(all.layers, 2u);
  EXPECT_EQ(all.rows, trace.sequence("text").size());
  EXPECT_EQ(all.columns, trace.sequence("pair").size());
  EXPECT_EQ(*std::ranges::max_element(all.cells), 255);
}

}  // namespace
}  // namespace attend
