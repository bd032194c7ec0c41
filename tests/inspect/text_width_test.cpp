#include "attend/inspect/text_width.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(TextWidth, CountsColumnsAsTerminalsDo) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("house"), 5u);
  EXPECT_EQ(columns_of("▁Straße"), 7u);
  EXPECT_EQ(columns_of("世界"), 4u);
  EXPECT_EQ(columns_of("ｆｕｌｌ"), 8u);
  EXPECT_EQ(columns_of("e\u0301a\u0308"), 2u);  // marks
  EXPECT_EQ(columns_of("a\u200bb"), 2u);        // zero-width space
  EXPECT_EQ(columns_of("שלום"), 4u);
  EXPECT_EQ(columns_of("\u1112\u1161\u11ab"), 2u);  // one syllable of three letters
  EXPECT_EQ(columns_of("कि"), 2u);                  // a mark with room of its own
}

TEST(TextWidth, AnEmojiOfSeveralCharactersIsOneClusterOfTwoColumns) {
  for (const char* emoji : {"😀", "👨\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "👍🏽", "1\ufe0f\u20e3"}) {
    const auto clusters = clusters_of(emoji);
    ASSERT_EQ(clusters.size(), 1u) << emoji;
    EXPECT_EQ(clusters[0].columns, 2u) << emoji;
    EXPECT_EQ(clusters[0].text, emoji);
  }
}

TEST(TextWidth, JoinedLettersTakeTheRoomOfAll) {
  EXPECT_EQ(columns_of("स्त्री"), 4u);  // by the C library's wcwidth, as are those below
  EXPECT_EQ(columns_of("हिन्दी"), 5u);
  EXPECT_EQ(columns_of("শিক্ষার্থী"), 8u);
}

TEST(TextWidth, CutsBetweenClusters) {
  EXPECT_EQ(cut_to("house", 5), "house");
  EXPECT_EQ(cut_to("houses", 5), "hous…");
  EXPECT_EQ(cut_to("世界国", 4), "世…");  // half of a wide character does not fit
  EXPECT_EQ(cut_to("世界国", 5), "世界…");
  EXPECT_EQ(cut_to("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(cut_to("👨\u200d👩\u200d👧👍🏽", 3), "👨\u200d👩\u200d👧…");
  EXPECT_EQ(cut_to("house", 1), "…");
  EXPECT_EQ(cut_to("house", 0), "");
  EXPECT_EQ(cut_front_to("house", 5), "house");
  EXPECT_EQ(cut_front_to("houses", 5), "…uses");
  EXPECT_EQ(cut_front_to("世界国", 4), "…国");
  EXPECT_EQ(cut_front_to("世界国", 5), "…界国");
  EXPECT_EQ(cut_front_to("e\u0301e\u0301e\u0301", 2), "…e\u0301");
  EXPECT_EQ(cut_front_to("house", 1), "…");
  EXPECT_EQ(cut_front_to("house", 0), "");
}

TEST(TextWidth, WrapsBetweenWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("a small house by the sea", 11), (Lines{"a small", "house by", "the sea"}));
  EXPECT_EQ(wrapped("a small house", 13), (Lines{"a small house"}));
  EXPECT_EQ(wrapped("a lighthouse", 4), (Lines{"a", "lighthouse"}));  // words stay whole
  const Lines words = {"in:", "世界", "世界", "a b", "世"};
  EXPECT_EQ(wrapped(words, 8, 2), (Lines{"in: 世界", "  世界", "  a b 世"}));
  EXPECT_EQ(wrapped(Lines{}, 8), Lines());
}

TEST(TextWidth, MakesControlCharactersVisible) {
  EXPECT_EQ(visible("a\tb\nc\x1b"), "a␉b␊c␛");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "␀");
  EXPECT_EQ(visible("\x7f"), "␡");
  EXPECT_EQ(visible("\u0085"), "\ufffd");
  EXPECT_EQ(visible("\u202eabc"), "\ufffdabc");  // would turn the rest of the line
  EXPECT_EQ(visible("\u2028"), "␤");
  EXPECT_EQ(visible("\uffff"), "\ufffd");  // not in XML
  EXPECT_EQ(visible("\u0301a"), "◌\u0301a");
  EXPECT_EQ(visible("a\xff\xc3"), "a\ufffd\ufffd");
  EXPECT_EQ(visible("👨\u200d👩 שלום"), "👨\u200d👩 שלום");
}

TEST(TextWidth, IsolatesOnlyWhatIsWrittenFromRightToLeft) {
  EXPECT_EQ(isolated("house 世界"), "house 世界");
  EXPECT_EQ(isolated("שלום"), "\u2068שלום\u2069");
  EXPECT_EQ(isolated("a مرحبا"), "\u2068a مرحبا\u2069");
  EXPECT_EQ(columns_of(isolated("שלום")), 4u);
}

}  // namespace
}  // namespace attend
