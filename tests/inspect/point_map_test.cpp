// Vectors as points: what is drawn of them.
#include "attend/inspect/point_map.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attend/inspect/word_vectors.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/traces.h"
#include "tests/inspect/xml.h"

namespace attend {
namespace {

const std::vector<std::string> kPointTexts = {"a <b>", "two", "three", "four"};
const std::vector<std::string> kPointLabels = {"10", "9", "10", "9"};

PointMap small_points(const std::vector<std::string>& labels = kPointLabels) {
  const Tensor vectors = Tensor::of({0, 0, 1, 0, 0, 2, 3, 1}, {4, 2});
  return project(vectors, kPointTexts, labels, {});
}

TEST(PointMap, HasTheLabelsInOrder) {
  const auto labels = small_points().labels();
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].label, "9");  // numbers by their size
  EXPECT_EQ(labels[0].points, 2u);
  EXPECT_TRUE(small_points({}).labels().empty());
  const auto words = small_points({"b", "a", "10", "b"}).labels();
  EXPECT_EQ(words[1].label, "a");
}

TEST(PointMap, AxesOfPcaSayTheirShare) {
  const PointMap map = small_points();
  EXPECT_TRUE(map.x_axis.starts_with("component 1, ")) << map.x_axis;
  const Tensor vectors = Tensor::of({0, 0, 1, 0, 0, 2, 3, 1, 4, 5}, {5, 2});
  const std::vector<std::string> texts(5, "x");
  ProjectionConfig config{.method = ProjectionMethod::kTsne};
  config.tsne.iterations = 10;
  const PointMap tsne = project(vectors, texts, {}, config);
  EXPECT_TRUE(tsne.x_axis.empty());
  EXPECT_EQ(tsne.title, "t-SNE, perplexity 1.33");
}

TEST(PointMap, SvgHasEveryPointWithItsText) {
  const std::string svg = draw_points(small_points(), PictureFormat::kSvg);
  EXPECT_EQ(XmlReader(svg).problem(), "");
  EXPECT_EQ(count(svg, "<title>"), 4u);
  EXPECT_NE(svg.find("a &lt;b&gt;\n10"), svg.npos);
  EXPECT_NE(svg.find("9 (2)"), svg.npos);
  EXPECT_EQ(count(svg, "class=\"key\""), 2u);
  PointMap named = small_points({});
  named.named = true;
  EXPECT_NE(draw_points(named, PictureFormat::kSvg).find(">three</text>"), svg.npos);
  EXPECT_EQ(svg.find(">three</text>"), svg.npos);
}

TEST(PointMap, ManyLabelsBecomeGrey) {
  std::vector<std::string> texts, labels;
  std::vector<float> values;
  for (size_t i = 0; i < 30; ++i) {
    texts.push_back("t" + std::to_string(i));
    labels.push_back("label " + std::to_string(i));
    values.insert(values.end(), {static_cast<float>(i), static_cast<float>(i * i % 7)});
  }
  const PointMap map = project(Tensor::of(values, {30, 2}), texts, labels, {});
  const std::string svg = draw_points(map, PictureFormat::kSvg);
  EXPECT_EQ(XmlReader(svg).problem(), "");
  EXPECT_NE(svg.find("6 other labels (6)"), svg.npos);
  EXPECT_EQ(count(svg, "halo other"), 7u);  // one in the key
}

TEST(PointMap, HtmlNeedsNothingElse) {
  const std::string page = draw_points(small_points(), PictureFormat::kHtml);
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), page.npos);
  EXPECT_EQ(count(page, "<style>"), 1u);
  EXPECT_EQ(count(page, "<script>"), 1u);
}

TEST(PointMap, NumbersAreThoseOfThePicture) {
  const PointMap map = small_points();
  const auto json = nlohmann::json::parse(draw_points(map, PictureFormat::kJson));
  ASSERT_EQ(json["points"].size(), 4u);
  EXPECT_EQ(json["points"][0]["text"], "a <b>");
  EXPECT_EQ(json["points"][3]["label"], "9");
  EXPECT_FLOAT_EQ(json["points"][2]["y"].get<float>(), map.points[2].y);
  const std::string bytes = draw_points(map, PictureFormat::kNpy);
  EXPECT_NE(bytes.find("'shape': (4, 2)"), bytes.npos);
}

TEST(PointMap, SaysWhatIsWrong) {
  const Tensor two = Tensor::of({0, 0, 1, 0}, {2, 2});
  expect_error<DataError>([&] { project(two, kPointTexts, {}, {}); }, "2 vectors, but 4 texts");
  const std::vector<std::string> texts = {"a", "b"}, one = {"x"};
  expect_error<DataError>([&] { project(two, texts, one, {}); }, "each text needs one");
  expect_error<DataError>([&] { project(two.slice_rows(0, 1), one, {}, {}); }, "at least 2");
  expect_error<ConfigError>([] { projection_from_name("umap"); }, "pca, tsne");
  expect_error<ConfigError>([] { draw_points(small_points(), PictureFormat::kMoses); }, ".svg");
}

TEST(VocabularyWords, AreThoseOfTheVocabulary) {
  const TextModel model = small_label_model(LabelPooling::kFirst);
  const VocabularyWords found = first_words(model, "", 5);
  ASSERT_EQ(found.words.size(), 5u);
  EXPECT_EQ(found.words[0], model.tokenizer("text").piece(model.tokenizer("text").first_piece()));
  EXPECT_EQ(found.vectors.extent(0), 5u);
  float squares = 0;
  for (const float value : found.vectors.slice_rows(2, 1).span()) squares += value * value;
  EXPECT_NEAR(squares, 1.0f, 1e-5f);
  EXPECT_EQ(
      first_words(model, "", 100'000).words.size(),
      model.tokenizer("text").size() - static_cast<size_t>(model.tokenizer("text").first_piece()));
}

}  // namespace
}  // namespace attend
