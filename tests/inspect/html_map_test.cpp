#include "attend/inspect/html_map.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/base/base64.h"
#include "attend/base/sha256.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/xml.h"

namespace attend {
namespace {

std::string drawn_html(const HeatMap& map) { return draw_html({&map, 1}); }

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const size_t start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

nlohmann::json data_of(const std::string& page) {
  return nlohmann::json::parse(
      between(page, "<script type=\"application/json\" id=\"maps\">", "</script>"));
}

std::string decoded(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t word = 0, bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    word = word << 6 | static_cast<uint32_t>(digits.find(c));
    bits += 6;
    if (bits >= 8) bytes += static_cast<char>(word >> (bits -= 8));
  }
  return bytes;
}

std::vector<float> values_of(const nlohmann::json& map, size_t size) {
  const std::string packed = decoded(map["values"]);
  std::vector<int16_t> steps(size);
  uLongf bytes = 2 * size;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(steps.data()), &bytes,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(bytes, 2 * size);
  std::vector<float> values(size);
  std::ranges::transform(steps, values.begin(), [&](int16_t step) {
    return static_cast<float>(step) * map["unit"].get<float>();
  });
  return values;
}

TEST(HtmlMap, AllowsItsOwnScriptAndStyleOnly) {
  const std::string page = drawn_html(diagonal({"a", "b"}, {"c", "d"}));
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"");
  const std::string script = between(page, "<script>", "</script>");
  const std::string style = between(page, "<style>", "</style>");
  EXPECT_EQ(policy, "default-src 'none'; script-src 'sha256-" + base64(sha256(script)) +
                        "'; style-src 'sha256-" + base64(sha256(style)) +
                        "'; img-src data:; base-uri 'none'; form-action 'none'");
  EXPECT_EQ(count(page, "<style"), 1u);
  EXPECT_EQ(count(page, " style="), 0u);
}

TEST(HtmlMap, LabelsAreShownAndNotRun) {
  const std::string attack =
      "</script><script>alert(1)</script><!--\"><img src=x onerror=alert(2)>";
  HeatMap map = diagonal({attack}, {attack, "\u2028"});
  map.title = "</title>" + attack;
  const std::string page = drawn_html(map);
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(count(page, "</script"), 2u);
  EXPECT_EQ(count(page, "</title>"), 1u);
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_EQ(count(page, "<!--"), 0u);
  EXPECT_EQ(data_of(page)[0]["rows"][0], attack);
  EXPECT_EQ(XmlReader(between(page, "<div class=\"scroll\">\n", "</div>")).problem(), "");
}

TEST(HtmlMap, HoldsTheValues) {
  HeatMap map = diagonal(many_labels(30), many_labels(50));
  map.values.data()[7] = -3.0f;  // past the darkest colour
  map.values.data()[8] = std::nanf("");
  const auto data = data_of(drawn_html(map));
  EXPECT_EQ(data[0]["columns"], map.columns);
  const auto values = values_of(data[0], 1500);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], i == 8 ? 0.0f : map.values.data()[i], 3.0f / 32767);
  }
}

TEST(HtmlMap, SaysWhatAttentionExplains) {
  EXPECT_NE(drawn_html(diagonal({"a"}, {"b"})).find(kAttentionNote), std::string::npos);
  EXPECT_NE(draw_html({}).find(kAttentionNote), std::string::npos);
  HeatMap map = diagonal({"a"}, {"b"});
  map.note = "a < b";
  EXPECT_EQ(count(drawn_html(map), "<p class=\"note\">a &lt; b</p>"), 1u);
  EXPECT_EQ(drawn_html(map).find(kAttentionNote), std::string::npos);
}

TEST(HtmlMap, CanBeReachedWithTheKeyboardAndReadOnAPhone) {
  const std::vector<HeatMap> maps(3, diagonal({"a"}, {"b"}));
  const std::string page = draw_html(maps);
  EXPECT_EQ(count(page, "tabindex=\"0\" role=\"group\" aria-label=\"decoder.0.cross, mean\""), 3u);
  EXPECT_NE(page.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(page.find("aria-live"), std::string::npos);
  EXPECT_NE(page.find(".scroll { overflow: auto; }"), std::string::npos);
}

TEST(HtmlMap, EmptyOneAndLong) {
  EXPECT_EQ(data_of(draw_html({})).size(), 0u);
  EXPECT_EQ(data_of(drawn_html(diagonal({}, {"a"})))[0]["rows"].size(), 0u);
  EXPECT_EQ(values_of(data_of(drawn_html(diagonal({"a"}, {"b"})))[0], 1)[0], 1.0f);
  EXPECT_LT(drawn_html(diagonal(many_labels(2000), many_labels(2000))).size(), 2u << 20);
}

}  // namespace
}  // namespace attend
