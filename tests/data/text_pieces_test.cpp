#include "attend/data/text_pieces.h"

#include <set>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "tests/data/encoders.h"
#include "tests/data/files.h"

namespace attend {
namespace {

class TextPieceTest : public DataFiles {
 protected:
  using Pieces = std::vector<std::vector<std::string>>;  // the columns of each

  Corpus corpus(const DocumentFiles& files, size_t columns, size_t longest) const {
    const std::vector<std::string> names = {"text", "pair"};
    return open_corpus(TextPieces({names.begin(), names.begin() + static_cast<ptrdiff_t>(columns)},
                                  files, byte_encoder(), {longest}),
                       directory_ / "corpus");
  }
  Pieces pieces(const DocumentFiles& files, size_t columns, size_t longest) const {
    const Corpus made = corpus(files, columns, longest);
    Pieces all;
    for (size_t i = 0; i < made.size(); ++i) {
      auto& piece = all.emplace_back();
      for (size_t c = 0; c < columns; ++c) {
        std::vector<int32_t> ids;
        made.append(i, c, ids);
        piece.emplace_back(ids.begin(), ids.end());
      }
    }
    return all;
  }
};

TEST_F(TextPieceTest, EveryTokenIsInOnePiece) {
  const DocumentFiles lines{{write("text", "abcdefg\n\nhi\nj\n")}, DocumentKind::kLine};
  EXPECT_EQ(pieces(lines, 1, 3), (Pieces{{"abc"}, {"def"}, {"g"}, {"hi"}, {"j"}}));
  EXPECT_EQ(pieces(lines, 1, 1).size(), 10u);
  EXPECT_EQ(pieces(lines, 1, 100), (Pieces{{"abcdefg"}, {"hi"}, {"j"}}));

  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += static_cast<char>('a' + i % 19) + std::string(i % 7 ? "" : "\n");
  const DocumentFiles whole{{write("long", text)}, DocumentKind::kFile};
  std::string joined;
  for (const auto& piece : pieces(whole, 1, 128)) joined += piece.front();
  std::string expected;
  for (const char c : text) expected += c == 'u' ? '\0' : c;
  EXPECT_EQ(joined, expected);
}

TEST_F(TextPieceTest, AFileOfLinesIsOneDocument) {
  const Path one = write("one", "ab\ncd\n\nef\n"), two = write("two.gz", gzip("g\n"));
  EXPECT_EQ(pieces({{one, two}, DocumentKind::kFile}, 1, 4),
            (Pieces{{"ab\nc"}, {"d\n\ne"}, {"f\n"}, {"g\n"}}));
  EXPECT_EQ(pieces({{one, two}, DocumentKind::kBlank}, 1, 4),
            (Pieces{{"ab\nc"}, {"d\n"}, {"ef\n"}, {"g\n"}}));
}

TEST_F(TextPieceTest, LinesKnowWhereTheyStand) {
  const Corpus made = corpus({{write("text", "abcd\n\nef\n")}, DocumentKind::kLine}, 1, 3);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made.line(1), 1u);
  EXPECT_EQ(made.line(2), 3u);
}

// Each line is in at most one pair, and a pair never crosses the end of a document.
TEST_F(TextPieceTest, PairsAreLinesThatFollowOneAnother) {
  const Path text = write("text", "a\nb\nc\n\nd\ne\n\n\nf\n");
  EXPECT_EQ(pieces({{text}, DocumentKind::kBlank}, 2, 20), (Pieces{{"a", "b"}, {"d", "e"}}));
  EXPECT_EQ(corpus({{text}, DocumentKind::kBlank}, 2, 20).counts().empty, 2u);  // c; f
  const Path other = write("other", "g\nh\n");
  EXPECT_EQ(pieces({{text, other}, DocumentKind::kFile}, 2, 20),
            (Pieces{{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}}));
}

// Half of the tokens for each of the two.
TEST_F(TextPieceTest, ALongLineIsAPairOfItsOwn) {
  const DocumentFiles files{{write("text", "abcdef\ngh\ni\n")}, DocumentKind::kBlank};
  EXPECT_EQ(pieces(files, 2, 6), (Pieces{{"abc", "def"}, {"gh", "i"}}));
  EXPECT_EQ(pieces(files, 2, 7), pieces(files, 2, 6));
}

TEST_F(TextPieceTest, NothingIsLeftOfNothing) {
  expect_error<DataError>([&] { pieces({{write("e", "")}}, 1, 9); }, "no document is left");
  expect_error<DataError>(
      [&] {
        pieces({{write("b", "\n \n")}, DocumentKind::kBlank}, 1, 9);
      },
      "no document is left");
  expect_error<DataError>(
      [&] {
        pieces({{write("s", "one\n\ntwo\n")}, DocumentKind::kBlank}, 2, 9);
      },
      "no document has two pieces that follow one another");
  expect_error<ConfigError>([&] { pieces({{write("t", "a\nb\n")}}, 2, 1); }, "pieces of 1 tokens");
}

TEST_F(TextPieceTest, TheFileHasTheSameBytesForAnyThreads) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::string(1 + static_cast<size_t>(i % 40), 'a') + "\n";
  const TextPieces source({"text"}, {{write("t", text)}}, byte_encoder(), {32});
  std::set<std::string> all;
  for (const int threads : {1, 2, 4}) {
    const ThreadCountScope scope(threads);
    build_corpus(source, directory_ / "built");
    all.insert(file_contents(directory_ / "built"));
  }
  EXPECT_EQ(all.size(), 1u);
}

}  // namespace
}  // namespace attend
