#include "attend/data/windows.h"

#include <set>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/data/plan.h"
#include "tests/data/encoders.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kStartId = 1, kEndId = 2, kIgnored = -100;

class WindowsTest : public DataFiles {
 protected:
  struct Window {
    Ids text;
    int32_t context;
    size_t line;
    bool operator==(const Window&) const = default;
  };

  Corpus corpus(const DocumentFiles& files, WindowConfig config) const {
    return open_corpus(WindowRecords("text", files, byte_encoder(), config), directory_ / "corpus");
  }
  static std::vector<Window> windows(const Corpus& corpus) {
    std::vector<Window> all;
    for (size_t i = 0; i < corpus.size(); ++i) {
      Ids text, context;
      corpus.append(i, 0, text);
      corpus.append(i, 1, context);
      all.push_back({text, context.front(), corpus.line(i)});
    }
    return all;
  }
  // What the windows predict, in order.
  static Ids predicted(const std::vector<Window>& all) {
    Ids ids;
    for (const Window& window : all) {
      ids.insert(ids.end(), window.text.begin() + window.context, window.text.end());
    }
    return ids;
  }
};

TEST_F(WindowsTest, ADocumentIsCutWithTheOverlapThatWasAskedFor) {
  const DocumentFiles files{{write("book", "abcdef\n")}, DocumentKind::kLine};
  EXPECT_EQ(windows(corpus(files, {4, 1})),
            (std::vector<Window>{{{kStartId, 'a', 'b', 'c', 'd'}, 1, 1},
                                 {{'c', 'd', 'e', 'f', kEndId}, 2, 1}}));
  EXPECT_EQ(windows(corpus(files, {4, 0})),
            (std::vector<Window>{{{kStartId, 'a', 'b', 'c', 'd'}, 1, 1},
                                 {{'d', 'e', 'f', kEndId}, 1, 1}}));
  EXPECT_EQ(windows(corpus(files, {7, 6})),
            (std::vector<Window>{{{kStartId, 'a', 'b', 'c', 'd', 'e', 'f', kEndId}, 1, 1}}));
}

TEST_F(WindowsTest, WhatADocumentIsCanBeChosen) {
  const auto one = write("one", "ab\n\ncd\nef\n\n\ng\n"), two = write("two.gz", gzip("h\n"));
  const auto texts = [&](DocumentKind kind) {
    std::vector<std::pair<std::string, size_t>> all;
    for (const Window& window : windows(corpus({{one, two}, kind}, {100, 0}))) {
      EXPECT_EQ(window.text.front(), kStartId);
      EXPECT_EQ(window.text.back(), kEndId);
      all.emplace_back(std::string(window.text.begin() + 1, window.text.end() - 1), window.line);
    }
    return all;
  };
  using Texts = std::vector<std::pair<std::string, size_t>>;
  EXPECT_EQ(texts(DocumentKind::kFile), (Texts{{"ab\n\ncd\nef\n\n\ng\n", 1}, {"h\n", 1}}));
  EXPECT_EQ(texts(DocumentKind::kLine),
            (Texts{{"ab", 1}, {"cd", 3}, {"ef", 4}, {"g", 7}, {"h", 1}}));
  EXPECT_EQ(texts(DocumentKind::kBlank),
            (Texts{{"ab\n", 1}, {"cd\nef\n", 3}, {"g\n", 7}, {"h\n", 1}}));
}

TEST_F(WindowsTest, ATextIsReadToTheByte) {
  const auto text = [&](const std::string& bytes, DocumentKind kind) {
    std::string all;
    DocumentReader reader({{write("text", bytes)}, kind});
    while (reader.next())
      all += (all.empty() || !reader.begins() ? "" : "|") + std::string(reader.text());
    return all;
  };
  for (const std::string bytes :
       {"ab", "ab\n", "ab\ncd", "ab\n\n", "\n", "a\r\nb\r\n", "a\r", " a \n b"}) {
    EXPECT_EQ(text(bytes, DocumentKind::kFile), bytes);
  }
  const std::string buffers = std::string(70'000, 'a') + "\r\n" + std::string(70'000, 'b');
  EXPECT_EQ(text(buffers, DocumentKind::kFile), buffers);
  EXPECT_EQ(text("ab\r\n\r\ncd\nef", DocumentKind::kBlank), "ab\r\n|cd\nef");
  EXPECT_EQ(text("ab\r\n\r\ncd\nef", DocumentKind::kLine), "ab|cd|ef");
  const auto no_end = windows(corpus({{write("book", "ab")}}, {8, 0}));
  EXPECT_EQ(no_end, (std::vector<Window>{{{kStartId, 'a', 'b', kEndId}, 1, 1}}));
}

// Whatever the sizes are: each token once, in its order, and each end; and no window is larger than
// the context allows.
TEST_F(WindowsTest, NoTokenIsLostOrPredictedTwice) {
  const RandomStream random(4, 0);
  std::string text;
  uint64_t at = 0;
  for (int paragraph = 0; paragraph < 40; ++paragraph) {
    for (uint64_t lines = random.below(at++, 4) + 1; lines > 0; --lines) {
      const uint64_t length = 1 + random.below(at++, 30);
      text += std::string(length, static_cast<char>('a' + at % 20)) + "\n";
    }
    text += "\n";
  }
  const auto file = write("book", text);
  for (const DocumentKind kind : {DocumentKind::kFile, DocumentKind::kLine, DocumentKind::kBlank}) {
    const Ids whole = predicted(windows(corpus({{file}, kind}, {1'000'000, 0})));
    for (const size_t context : {1, 2, 3, 7, 31, 32, 500}) {
      for (const size_t overlap : {0, 1, 2, 6, 30}) {
        if (overlap >= context) continue;
        const Corpus made = corpus({{file}, kind}, {context, overlap});
        const auto all = windows(made);
        ASSERT_EQ(predicted(all), whole) << context << " " << overlap;
        EXPECT_EQ(made.columns()[0].items, whole.size());
        for (size_t i = 0; i < all.size(); ++i) {
          EXPECT_LE(all[i].text.size(), context + 1);
          EXPECT_EQ(made.lengths().rows(i), all[i].text.size() - 1) << "what is read";
          EXPECT_LT(static_cast<size_t>(all[i].context), all[i].text.size());
          if (all[i].text.front() == kStartId) continue;
          EXPECT_EQ(all[i].context, static_cast<int32_t>(overlap) + 1);
          const Ids& before = all[i - 1].text;
          EXPECT_TRUE(std::equal(before.end() - all[i].context, before.end(), all[i].text.begin()));
        }
      }
    }
  }
}

TEST_F(WindowsTest, WhatIsLeftOutIsCounted) {
  const Corpus made = corpus({{write("text", "ab\n\n___\ntoo long a line\nu\xFF\n")},
                              DocumentKind::kLine,
                              0,
                              TextPart::kAll,
                              10},
                             {8, 0});
  EXPECT_EQ(made.size(), 2u);
  const CorpusCounts& counts = made.counts();
  EXPECT_EQ(counts.read.records, 3u);
  EXPECT_EQ(counts.read.empty, 1u);
  EXPECT_EQ(counts.read.too_long, 1u);
  EXPECT_EQ(counts.read.text.invalid_utf8, 1u);
  EXPECT_EQ(counts.empty, 1u);
  EXPECT_EQ(made.columns()[0].items, 2u + 1u + 4u + 1u);
  EXPECT_EQ(made.columns()[0].unknown, 1u);
}

TEST_F(WindowsTest, WhatIsHeldOutIsTheRest) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "line " + std::to_string(i) + (i % 3 == 0 ? "\n\n" : "\n");
  const auto file = write("book", text);
  for (const DocumentKind kind : {DocumentKind::kFile, DocumentKind::kLine, DocumentKind::kBlank}) {
    std::multiset<std::string> all, parts;
    size_t held_out = 0;
    const auto read = [&](TextPart part, std::multiset<std::string>& to) {
      DocumentReader reader({{file}, kind, 0.1, part});
      size_t count = 0;
      while (reader.next()) {
        to.emplace(reader.text());
        count += reader.text().size();
      }
      return count;
    };
    const size_t bytes = read(TextPart::kAll, all);
    read(TextPart::kKept, parts);
    held_out = read(TextPart::kHeldOut, parts);
    EXPECT_EQ(parts, all);
    EXPECT_NEAR(static_cast<double>(held_out) / static_cast<double>(bytes), 0.1, 0.02);
  }
  // The end of a file, which comes after all that is trained on.
  DocumentReader reader({{file}, DocumentKind::kFile, 0.5, TextPart::kHeldOut});
  ASSERT_TRUE(reader.next());
  EXPECT_TRUE(reader.begins());
  EXPECT_GT(reader.line(), 1200u);
  ASSERT_TRUE(reader.next());
  EXPECT_FALSE(reader.begins());
  EXPECT_THROW(DocumentReader({{file}, DocumentKind::kFile, 1.0, TextPart::kKept}),
               ConfigError);
  expect_error<DataError>(
      [&] {
        corpus({{write("short", "one line\n")}, DocumentKind::kFile, 0.1, TextPart::kHeldOut},
               {8, 0});
      },
      "leaves no document for validation");
}

TEST_F(WindowsTest, RowsAreReadAndPredictedOnce) {
  TokenLines lines;
  lines.add(Ids{kStartId, 5, 6, kEndId});
  lines.add(Ids{6, 7, 8, 9});
  const int32_t contexts[] = {1, 2};
  const TeacherRows rows = window_rows(lines.tokens(), contexts, kIgnored);
  EXPECT_EQ(rows.inputs.packing, Packing::of({3, 3}));
  const auto inputs = rows.inputs.ids.index_span(), labels = rows.labels.index_span();
  EXPECT_EQ(Ids(inputs.begin(), inputs.end()), (Ids{kStartId, 5, 6, 6, 7, 8}));
  EXPECT_EQ(Ids(labels.begin(), labels.end()), (Ids{5, 6, kEndId, kIgnored, 8, 9}));
  // A whole document is what a frame makes of it.
  const TeacherRows framed = teacher_rows(one_sequence(Ids{5, 6}), {});
  EXPECT_EQ(Ids(inputs.begin(), inputs.begin() + 3),
            Ids(framed.inputs.ids.indices(), framed.inputs.ids.indices() + 3));
  EXPECT_THROW(window_rows(lines.tokens(), {}, kIgnored), DataError);
}

TEST_F(WindowsTest, BatchesHaveTheWindowsOfTheirBudget) {
  const Corpus made = corpus({{write("book", std::string(640, 'a') + "\n")}}, {64, 0});
  const BatchPlan plan(made.lengths(), {.tokens = 5 * 64}, 0);
  size_t largest = 0;
  for (size_t i = 0; i < plan.size(); ++i) largest = std::max(largest, plan[i].size());
  EXPECT_EQ(largest, 5u);
}

TEST_F(WindowsTest, RefusesWhatCannotBe) {
  const auto file = write("a", "text\n");
  expect_error<ConfigError>([&] { corpus({{file}}, {4, 4}); }, "overlap must be smaller");
  EXPECT_THROW(corpus({{file}}, {0, 0}), ConfigError);
  EXPECT_THROW(corpus({{}}, {4, 0}), Error);
  expect_error<DataError>(
      [&] {
        corpus({{write("none", "")}}, {4, 0});
      },
      "no document is left of 1: 1 are empty");
  EXPECT_THROW(corpus({{"-"}}, {4, 0}), ConfigError);
}

}  // namespace
}  // namespace attend
