// What a model looks at as pictures: several layers from one pass, and in every form.
#include "attend/inspect/attention_pictures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/inspect/draw.h"
#include "attend/inspect/overview.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

TEST(AttentionPictures, OfSeveralLayersAreThoseOfEach) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "ef");
  const std::vector<AttentionLayer> layers = trace.layers;
  const auto together = attention_pictures(model, trace, layers, HeadChoice::parse("max"));
  const auto heads = head_pictures(model, trace, layers);
  ASSERT_EQ(together.size(), layers.size());
  ASSERT_EQ(heads.size(), 2 * layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    const HeatMap alone = attention_picture(model, trace, layers[i].name, HeadChoice::parse("max"));
    EXPECT_EQ(together[i].title, alone.title);
    EXPECT_EQ(together[i].rows, alone.rows);
    EXPECT_EQ(together[i].values.to_vector(), alone.values.to_vector());
    EXPECT_EQ(together[i].most, together[0].most);
    const auto own = head_pictures(model, trace, layers[i].name);
    for (size_t head = 0; head < 2; ++head) {
      EXPECT_EQ(heads[2 * i + head].title, own[head].title);
      EXPECT_EQ(heads[2 * i + head].values.to_vector(), own[head].values.to_vector());
    }
  }
}

TEST(AttentionPictures, OneMapIsTheMeanOfAllLayersOfAPair) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "ef");
  const SequencePair cross{"target", "source"};
  const std::vector<AttentionLayer> layers = layers_between(trace.layers, cross);
  ASSERT_GT(layers.size(), 1u);
  const HeatMap map = mean_picture(model, trace, cross);
  EXPECT_EQ(map.title, fmt::format("target -> source, mean of {} layers", layers.size()));
  EXPECT_EQ(map.row_axis, "target");
  EXPECT_EQ(map.column_axis, "source");
  const auto each = attention_pictures(model, trace, layers);
  EXPECT_EQ(map.rows, each[0].rows);
  for (size_t row = 0; row < map.rows.size(); ++row) {
    for (size_t column = 0; column < map.columns.size(); ++column) {
      float sum = 0;
      for (const HeatMap& layer : each) sum += layer.at(row, column);
      EXPECT_NEAR(map.at(row, column), sum / static_cast<float>(layers.size()), 1e-6);
    }
  }
  EXPECT_NE(draw_maps({&map, 1}, PictureFormat::kTerminal)
                .find("mean of 2 layers\ntarget \u2193 source \u2192\n"),
            std::string::npos);
}

TEST(AttentionPictures, EntropyIsAMapOfLayersAndHeads) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "ef");
  std::vector<AttentionLayer> layers = trace.layers;
  const auto numbers = entropies(model, trace, layers);
  const HeatMap map = entropy_picture(model, trace, layers);
  map.check();
  ASSERT_EQ(map.rows.size(), layers.size());
  EXPECT_EQ(map.rows[0], layers[0].name);
  EXPECT_EQ(map.columns, (std::vector<std::string>{"0", "1"}));
  for (size_t i = 0; i < layers.size(); ++i) {
    for (size_t head = 0; head < 2; ++head) EXPECT_EQ(map.at(i, head), numbers[i][head]);
  }
  EXPECT_TRUE(draw_maps({&map, 1}, PictureFormat::kSvg).starts_with("<svg"));
}

TEST(AttentionPictures, HaveASignWhereWeightsAreNegative) {
  for (const Weighting weighting :
       {Weighting::kSoftmax, Weighting::kSigmoid, Weighting::kIdentity}) {
    const TextModel model = small_weighting_model(weighting);
    const Trace trace = given_trace(model, "abcd", "ef");
    for (const HeatMap& map : head_pictures(model, trace, trace.layers)) {
      const std::vector<float> values = map.values.to_vector();
      EXPECT_EQ(map.has_sign, std::ranges::min(values) < 0.0f) << map.title;
    }
  }
}

TEST(AttentionPictures, OfSaliencySayWhatItIsAndHowFarTheyAre) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "ef");
  std::vector<size_t> told;
  const HeatMap map =
      saliency_picture(model, trace, "", {.most_rows = 1}, [&](const Saliency&, size_t rows) {
        told.push_back(rows);
        return true;
      });
  EXPECT_EQ(told, (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(map.note, kSaliencyNote);
  EXPECT_TRUE(map.has_sign);
  EXPECT_EQ(map.columns, (std::vector<std::string>{"a", "b", "c", "d", "</s>"}));
  const HeatMap own = saliency_picture(model, trace, "target");
  EXPECT_EQ(own.rows, (std::vector<std::string>{"e", "f", "</s>"}));
  EXPECT_EQ(own.columns, (std::vector<std::string>{"<s>", "e", "f"}));
}

TEST(AttentionPictures, OfAModelThatReadsWhatItWritesHaveItsItems) {
  const TextModel model = small_language_model();
  const Trace trace = given_trace(model, "ab");
  const std::vector<std::string> items = {"<s>", "a", "b"};
  for (const HeatMap& map : {attention_picture(model, trace, trace.layers[0].name),
                             graph_picture(model, trace, GraphMethod::kRollout, {"text", "text"}),
                             graph_picture(model, trace, GraphMethod::kFlow, {"text", "text"})}) {
    map.check();
    EXPECT_EQ(map.rows, items);
    EXPECT_EQ(map.columns, items);
  }
  const HeatMap saliency = saliency_picture(model, trace);
  EXPECT_EQ(saliency.rows, (std::vector<std::string>{"a", "b", "</s>"}));
  EXPECT_EQ(saliency.columns, items);
}

TEST(Draw, TheEndingOfAFileTellsTheFormat) {
  EXPECT_EQ(format_of_file(""), PictureFormat::kTerminal);
  EXPECT_EQ(format_of_file("a.txt"), PictureFormat::kTerminal);
  EXPECT_EQ(format_of_file("a.b/c.svg"), PictureFormat::kSvg);
  EXPECT_EQ(format_of_file("a.NpY"), PictureFormat::kNpy);
  for (const char* file : {"a", "a.", "svg", "a.svg/b", "a.bmp"}) {
    expect_error<ConfigError>([&] { format_of_file(file); },
                              fmt::format("{} has no known ending; use one of: .svg, .png, "
                                          ".html, .json, .npy, .moses, .txt",
                                          file));
  }
}

// What ends on both sides.
HeatMap framed_map(const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
  HeatMap map = diagonal(rows, columns);
  map.row_framing = map.column_framing = {.end = true};
  return map;
}

TEST(Draw, LinksLeaveOutTheSourcesEnd) {
  HeatMap map = framed_map({"a", "b", "</s>"}, {"c", "d", "</s>"});
  map.values = Tensor::of({0.1f, 0.3f, 0.6f, 0.5f, 0.1f, 0.4f, 0, 0, 1}, {3, 3});
  EXPECT_EQ(draw_maps({&map, 1}, PictureFormat::kMoses), "1-0 0-1\n");
  map.columns.back() = "e";
  map.column_framing = {};
  EXPECT_EQ(draw_maps({&map, 1}, PictureFormat::kMoses), "2-0 0-1\n");
  const HeatMap empty = framed_map({"a", "</s>"}, {"</s>"});
  EXPECT_EQ(draw_maps({&empty, 1}, PictureFormat::kMoses), "\n");
}

TEST(Draw, LinksOfASequenceToItselfLeaveOutItsStart) {
  const std::vector<std::string> tokens = {"<s>", "a", "b"};
  HeatMap map = map_of(tokens, tokens);
  map.row_framing = map.column_framing = {.start = true};
  map.values = Tensor::of({1, 0, 0, 0.9f, 0.1f, 0, 0.5f, 0.3f, 0.2f}, {3, 3});
  EXPECT_EQ(draw_maps({&map, 1}, PictureFormat::kMoses), "0-0 0-1\n");
}

TEST(Draw, LinksOfSeveralMapsAreNamed) {
  std::vector<HeatMap> maps = {framed_map({"a", "b", "</s>"}, {"c", "d", "</s>"}),
                               framed_map({"a", "</s>"}, {"c", "</s>"})};
  maps[1].title = "other";
  EXPECT_EQ(draw_maps(maps, PictureFormat::kMoses),
            "decoder.0.cross, mean ||| 0-0 1-1\nother ||| 0-0\n");
  EXPECT_EQ(draw_maps({&maps[0], 1}, PictureFormat::kMoses), "0-0 1-1\n");
}

}  // namespace
}  // namespace attend
