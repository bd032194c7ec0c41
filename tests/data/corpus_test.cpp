#include "attend/data/corpus.h"

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/data/corpus_file.h"
#include "tests/data/encoders.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;

class CorpusTest : public DataFiles {
 protected:
  std::vector<LineColumn> columns(std::string_view source, std::string_view target,
                                  size_t vocabulary = 300) const {
    return {{{"source", write("source", source)}, byte_encoder(vocabulary)},
            {{"target", write("target", target)}, byte_encoder(vocabulary)}};
  }
  LineRecords pairs(std::string_view source, std::string_view target,
                    size_t vocabulary = 300) const {
    return LineRecords(columns(source, target, vocabulary));
  }
  Path file() const { return directory_ / "corpus"; }
  // Many pairs of random lengths.
  std::vector<LineColumn> large() const {
    const RandomStream random(1, 0);
    std::string source, target;
    for (uint64_t i = 0; i < 10'000; ++i) {
      source += std::string(random.below(2 * i, 20), 'a' + static_cast<char>(i % 20)) + "\n";
      target += std::string(random.below(2 * i + 1, 20), 'A' + static_cast<char>(i % 20)) + "\n";
    }
    return columns(source, target);
  }
  static Ids ids_of(const Corpus& corpus, size_t record, std::string_view column) {
    Ids ids;
    corpus.append(record, corpus.column(column), ids);
    return ids;
  }
  static Ids source(const Corpus& corpus, size_t record) {
    return ids_of(corpus, record, "source");
  }
  static Ids target(const Corpus& corpus, size_t record) {
    return ids_of(corpus, record, "target");
  }
};

TEST_F(CorpusTest, HoldsWhatTheTokenizersGave) {
  for (const size_t vocabulary : {300, 65536, 65537, 1 << 30}) {
    build_corpus(pairs("ab\nZ\n", "c\ndeZ\n", vocabulary), file());
    const Corpus corpus(file());
    const auto last = static_cast<int32_t>(vocabulary) - 1;
    ASSERT_EQ(corpus.size(), 2u);
    EXPECT_EQ(source(corpus, 0), (Ids{'a', 'b'}));
    EXPECT_EQ(target(corpus, 0), (Ids{'c'}));
    EXPECT_EQ(source(corpus, 1), (Ids{last}));
    EXPECT_EQ(target(corpus, 1), (Ids{'d', 'e', last}));
    EXPECT_EQ(corpus.lengths()[1][1], 3u);
    EXPECT_EQ(corpus.lengths().rows(1), 6u) << "an end each";
    EXPECT_EQ(corpus.columns()[0].vocabulary, vocabulary);
    EXPECT_EQ(corpus.columns()[1].name(), "target");
    EXPECT_EQ(corpus.columns()[1].kind(), ColumnKind::kTokens);
  }
}

TEST_F(CorpusTest, HasAnyColumns) {
  const auto file_of_three = write("three.tsv", "ab\tyes\tcd\ne\tno\tf\n");
  const std::vector<LineColumn> three = {
      {{"text", file_of_three, 1}, byte_encoder()},
      {{"label", file_of_three, 2}, label_encoder(), ColumnKind::kLabel},
      {{"pair", file_of_three, 3}, byte_encoder(70'000)}};
  build_corpus(LineRecords(three), file());
  const Corpus corpus(file());
  ASSERT_EQ(corpus.columns().size(), 3u);
  EXPECT_TRUE(corpus.has("label"));
  EXPECT_FALSE(corpus.has("source"));
  EXPECT_EQ(ids_of(corpus, 1, "text"), Ids{'e'});
  EXPECT_EQ(ids_of(corpus, 1, "label"), Ids{'n'});
  EXPECT_EQ(ids_of(corpus, 0, "pair"), (Ids{'c', 'd'}));
  EXPECT_EQ(corpus.columns()[1].kind(), ColumnKind::kLabel);
  EXPECT_EQ(corpus.columns()[2].element_bytes, 4u);
  EXPECT_EQ(corpus.lengths().rows(0), 6u) << "a label takes no rows";
  expect_error<DataError>([&] { corpus.column("target"); },
                          "there is no column target; there are: text, label, pair");
  const uint32_t records[] = {1, 0};
  const Batch batch = make_batch(corpus, records);
  EXPECT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch.tokens("text").packing, Packing::of({1, 2}));
  EXPECT_EQ(batch["label"].values.indices()[0], 'n');
  EXPECT_EQ(batch.lines, (std::vector<size_t>{2, 1}));
}

TEST_F(CorpusTest, CountsWhatIsLeftOutAndKeepsTheLines) {
  auto limited = columns("aaaa\n\nuab\n_\nab\n\xFF\n", "b\nb\nc\nb\ndddd\nuu\n");
  limited[0].longest = limited[1].longest = 3;
  build_corpus(LineRecords(limited), file());
  const Corpus corpus(file());
  ASSERT_EQ(corpus.size(), 2u);
  EXPECT_EQ(corpus.line(0), 3u);
  EXPECT_EQ(corpus.line(1), 6u);
  const CorpusCounts& counts = corpus.counts();
  EXPECT_EQ(counts.read.records, 5u);
  EXPECT_EQ(counts.read.empty, 1u);
  EXPECT_EQ(counts.read.text.invalid_utf8, 1u);
  EXPECT_EQ(counts.empty, 1u);
  EXPECT_EQ(counts.too_long, 2u);
  EXPECT_EQ(counts.left_out(), 4u);
  EXPECT_EQ(corpus.columns()[0].items, 6u);
  EXPECT_EQ(corpus.columns()[1].items, 3u);
  EXPECT_EQ(corpus.columns()[0].unknown, 1u);
  EXPECT_EQ(corpus.columns()[1].unknown, 2u);
}

TEST_F(CorpusTest, AnEmptyColumnIsKeptWhereItMayBe) {
  auto some = columns("a\n_\nb\n", "c\nd\n\n");
  some[0].text.may_be_empty = some[1].text.may_be_empty = true;
  build_corpus(LineRecords(some), file());
  const Corpus corpus(file());
  ASSERT_EQ(corpus.size(), 3u);
  EXPECT_EQ(source(corpus, 1), Ids{});
  EXPECT_EQ(target(corpus, 2), Ids{});
  EXPECT_EQ(corpus.counts().left_out(), 0u);
}

TEST_F(CorpusTest, ALabelIsOneToken) {
  std::vector<LineColumn> wrong = columns("a\nb\n", "c\ndd\n");
  wrong[1].kind = ColumnKind::kLabel;
  expect_error<DataError>([&] { build_corpus(LineRecords(wrong), file()); },
                          "target:2: a target of 2 tokens, but a label is one");
}

TEST_F(CorpusTest, TheSameBytesForAnyNumberOfThreads) {
  const std::vector<LineColumn> all = large();
  std::string first;
  for (const int threads : {1, 2, 5}) {
    const ThreadCountScope scope(threads);
    build_corpus(LineRecords(all), file());
    if (first.empty()) first = read(file());
    EXPECT_TRUE(read(file()) == first) << threads;
  }
  const Corpus corpus(file());
  LineReader sources(all[0].text.file), targets(all[1].text.file);
  for (size_t i = 0; i < corpus.size(); ++i) {
    do {
      ASSERT_TRUE(sources.next() && targets.next());
    } while (sources.number() < corpus.line(i));
    const std::string_view a = sources.line(), b = targets.line();
    ASSERT_EQ(source(corpus, i), all[0].encoder.encode(a));
    ASSERT_EQ(target(corpus, i), all[1].encoder.encode(b));
  }
}

TEST_F(CorpusTest, IsUsedAgainOnlyIfNothingChanged) {
  std::vector<LineColumn> first = columns("a\n", "b\n");
  size_t calls = 0;
  first[0].encoder.encode = [&, encode = first[0].encoder.encode](std::string_view line) {
    ++calls;
    return encode(line);
  };
  const auto builds = [&] {
    const size_t before = calls;
    open_corpus(LineRecords(first), file());
    return calls > before;
  };
  EXPECT_TRUE(builds());
  EXPECT_FALSE(builds());
  write("source", "c\n");
  EXPECT_TRUE(builds()) << "other text";
  EXPECT_EQ(source(open_corpus(LineRecords(first), file()), 0), Ids{'c'});
  ++first[1].encoder.fingerprint;
  EXPECT_TRUE(builds()) << "another tokenizer";
  first[1].longest = 7;
  EXPECT_TRUE(builds()) << "other limits";
  first[1].text.may_be_empty = true;
  EXPECT_TRUE(builds()) << "another rule";
  first[1].text.name = "other";
  EXPECT_TRUE(builds()) << "another column";
  EXPECT_FALSE(builds());
  write("corpus", read(file()).substr(1));
  EXPECT_TRUE(builds()) << "damaged";
  EXPECT_FALSE(builds());
  write("corpus", "ATTENDPC" + read(file()).substr(8));
  EXPECT_TRUE(builds()) << "of an earlier version";
}

TEST_F(CorpusTest, AFailureLeavesTheOldFile) {
  build_corpus(pairs("a\n", "b\n"), file());
  const std::string before = read(file());
  EXPECT_THROW(build_corpus(pairs("a\nb\n", "b\n"), file()), DataError);
  std::vector<LineColumn> wrong = columns("a\n", "b\n");
  wrong[1].encoder.vocabulary = 'b';
  EXPECT_THROW(build_corpus(LineRecords(wrong), file()), DataError);
  EXPECT_EQ(read(file()), before);
}

TEST_F(CorpusTest, NothingLeftIsAnErrorThatSaysWhy) {
  std::vector<LineColumn> none = columns("aa\n\n", "b\nb\n");
  none[0].longest = 1;
  const std::string error = message_of<DataError>([&] { build_corpus(LineRecords(none), file()); });
  EXPECT_NE(error.find("no record is left of 2: 1 have an empty column, 1 are too long, over 1 "
                       "source or 512 target tokens"),
            error.npos)
      << error;
  none[0].text.file = "-";
  EXPECT_THROW(build_corpus(LineRecords(none), file()), ConfigError);
  none[0].text.file = none[1].text.file;
  none[0].text.name = std::string(32, 'n');
  EXPECT_THROW(build_corpus(LineRecords(none), file()), ConfigError);
}

constexpr size_t kValuesEnd = 8 + 7 * 2;  // of the four texts below

// Cut off behind our back, at any place: what is gone cannot be read, and the file is named.
TEST_F(CorpusTest, EveryTruncationWhileInUseIsAnError) {
  build_corpus(pairs("abc\nd\n", "e\nfg\n"), file());
  const std::string whole = read(file());
  for (size_t size = 0; size < whole.size(); ++size) {
    write("corpus", whole);
    const Corpus corpus(file());
    std::filesystem::resize_file(file(), size);
    const auto read_all = [&] {
      for (const size_t record : {0, 1}) {
        source(corpus, record);
        target(corpus, record);
      }
    };
    if (size < kValuesEnd) {
      expect_error<IoError>(read_all, file().string() + ": it was cut off, to ");
    } else {
      EXPECT_NO_THROW(read_all());
    }
  }
}

TEST_F(CorpusTest, EveryTruncationIsRefused) {
  build_corpus(pairs("abc\nd\n", "e\nfg\n"), file());
  const std::string whole = read(file());
  for (size_t size = 0; size < whole.size(); ++size) {
    write("corpus", whole.substr(0, size));
    const std::string error = message_of<FormatError>([&] { Corpus{file()}; });
    EXPECT_NE(error.find(file().string()), error.npos) << error;
  }
  write("corpus", whole + "x");
  EXPECT_THROW(Corpus{file()}, FormatError);
}

TEST_F(CorpusTest, EveryChangedByteIsRefusedOrHarmless) {
  build_corpus(pairs("abc\nd\n", "e\nfg\n"), file());
  const std::string whole = read(file());
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 0x80);
    write("corpus", bad);
    if (i < 8 || i >= kValuesEnd) {
      EXPECT_THROW(Corpus{file()}, FormatError) << i;
    } else if (i % 2 == 1) {  // a high byte: the id is out of the vocabulary
      const Corpus corpus(file());
      const auto read_all = [&] {
        for (const size_t record : {0, 1}) {
          source(corpus, record);
          target(corpus, record);
        }
      };
      EXPECT_THROW(read_all(), FormatError) << i;
    }
  }
}

}  // namespace
}  // namespace attend
