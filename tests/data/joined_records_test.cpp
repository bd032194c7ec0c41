#include "attend/data/joined_records.h"

#include "attend/base/error.h"
#include "attend/data/line_records.h"
#include "attend/data/text_pieces.h"
#include "tests/data/encoders.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;

class JoinedRecordsTest : public DataFiles {
 protected:
  std::unique_ptr<RecordSource> lines(const std::string& name, std::string_view text) const {
    return std::make_unique<LineRecords>(
        std::vector<LineColumn>{{{"text", write(name, text)}, byte_encoder()}});
  }
  Corpus joined(const std::vector<std::string>& texts) const {
    std::vector<std::unique_ptr<RecordSource>> sources;
    for (size_t i = 0; i < texts.size(); ++i) {
      sources.push_back(lines(fmt::format("text{}", i), texts[i]));
    }
    return open_corpus(JoinedRecords(std::move(sources)), directory_ / "corpus");
  }
  static Ids parts(const Corpus& corpus) { return {corpus.parts().begin(), corpus.parts().end()}; }
};

TEST_F(JoinedRecordsTest, RecordsOfOneFollowThoseOfTheOther) {
  const Corpus corpus = joined({"a\nbu\n", "cuu\n\nd\ne\n"});
  EXPECT_EQ(corpus.size(), 5u);
  EXPECT_EQ(parts(corpus), (Ids{2, 5}));
  Ids ids;
  for (size_t i = 0; i < 5; ++i) corpus.append(i, 0, ids);
  EXPECT_EQ(ids, (Ids{'a', 'b', 0, 'c', 0, 0, 'd', 'e'}));
  EXPECT_EQ(corpus.line(1), 2u);
  EXPECT_EQ(corpus.line(3), 3u) << "of its own file";
  EXPECT_EQ(corpus.columns()[0].items, 8u);
  EXPECT_EQ(corpus.columns()[0].unknown, 3u);
  EXPECT_EQ(corpus.counts().read.records, 5u);
  EXPECT_EQ(corpus.counts().left_out_empty(), 1u);
}

TEST_F(JoinedRecordsTest, ACorpusMayHaveNoRecord) {
  EXPECT_EQ(parts(joined({"", "a\n"})), (Ids{0, 1}));
  EXPECT_EQ(parts(joined({"a\n", "", "b\nc\n", ""})), (Ids{1, 1, 3, 3}));
  expect_error<DataError>([&] { joined({"", ""}); }, "no record is left");
}

TEST_F(JoinedRecordsTest, TheFingerprintIsOfAll) {
  const uint64_t both = joined({"a\n", "b\n"}).spec();
  EXPECT_EQ(joined({"a\n", "b\n"}).spec(), both);
  EXPECT_NE(joined({"b\n", "a\n"}).spec(), both);
  EXPECT_NE(joined({"a\n", "b\n", "b\n"}).spec(), both);
  EXPECT_EQ(joined({"a\n"}).spec(), lines("one", "a\n")->fingerprint());
}

TEST_F(JoinedRecordsTest, WeightsAreForEachPartAndLeaveNoneWithoutARecord) {
  Corpus corpus = joined({"a\nb\n", "c\nd\n"});
  const double one[] = {2}, two[] = {2, 0.5}, little[] = {2, 0.3};
  expect_error<ConfigError>([&] { corpus.weigh(one); }, "1 weights for 2 corpora");
  expect_error<DataError>([&] { corpus.weigh(little); }, "corpus 2 of 2 has 2 records");
  EXPECT_EQ(corpus.lengths().weight(3), 1);
  corpus.weigh(two);
  EXPECT_EQ(corpus.lengths().weight(1), 2);
  EXPECT_EQ(corpus.lengths().weight(3), 0.5);
}

TEST_F(JoinedRecordsTest, FilesOfDocumentsArePartsToo) {
  for (const DocumentKind kind : {DocumentKind::kFile, DocumentKind::kLine, DocumentKind::kBlank}) {
    const DocumentFiles files{
        {write("one", "aaaa\nbbbb\n"), write("none", ""), write("two", "cccccccccc\n")}, kind};
    const Corpus corpus = open_corpus(TextPieces({"text"}, files, byte_encoder(), {.longest = 4}),
                                      directory_ / "pieces");
    ASSERT_EQ(corpus.parts().size(), 3u);
    EXPECT_EQ(corpus.parts()[0], corpus.parts()[1]);
    for (size_t i = 0; i < corpus.size(); ++i) {
      Ids ids;
      corpus.append(i, 0, ids);
      EXPECT_EQ(ids.front() == 'c', i >= corpus.parts()[0]) << name_of(kind) << " " << i;
    }
  }
}

}  // namespace
}  // namespace attend
