#include "attend/data/corpus.h"

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/base/special_tokens.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;

// A token is a character: its byte, in a vocabulary as large as one likes; 'u' is unknown, '_' is
// nothing.
TextEncoder encoder(size_t vocabulary = 300) {
  const auto encode = [=](std::string_view line) {
    Ids ids;
    for (const char c : line) {
      if (c == 'Z')
        ids.push_back(static_cast<int32_t>(vocabulary) - 1);
      else if (c != '_')
        ids.push_back(c == 'u' ? kUnknown : static_cast<unsigned char>(c));
    }
    return ids;
  };
  return {encode, vocabulary, vocabulary};
}

class CorpusTest : public DataFiles {
 protected:
  CorpusSpec spec(std::string_view source, std::string_view target, size_t vocabulary = 300) const {
    return {.files = {write("source", source), write("target", target)},
            .source = encoder(vocabulary),
            .target = encoder(vocabulary)};
  }
  Path file() const { return directory_ / "corpus"; }
  // Many pairs of random lengths.
  CorpusSpec large_spec() const {
    const RandomStream random(1, 0);
    std::string source, target;
    for (uint64_t i = 0; i < 10'000; ++i) {
      source += std::string(random.below(2 * i, 20), 'a' + static_cast<char>(i % 20)) + "\n";
      target += std::string(random.below(2 * i + 1, 20), 'A' + static_cast<char>(i % 20)) + "\n";
    }
    return spec(source, target);
  }
  static Ids source(const Corpus& corpus, size_t pair) {
    Ids ids;
    corpus.append_source(pair, ids);
    return ids;
  }
  static Ids target(const Corpus& corpus, size_t pair) {
    Ids ids;
    corpus.append_target(pair, ids);
    return ids;
  }
};

TEST_F(CorpusTest, HoldsWhatTheTokenizersGave) {
  for (const size_t vocabulary : {300, 65536, 65537, 1 << 30}) {
    build_corpus(spec("ab\nZ\n", "c\ndeZ\n", vocabulary), file());
    const Corpus corpus(file());
    const auto last = static_cast<int32_t>(vocabulary) - 1;
    ASSERT_EQ(corpus.size(), 2u);
    EXPECT_EQ(source(corpus, 0), (Ids{'a', 'b'}));
    EXPECT_EQ(target(corpus, 0), (Ids{'c'}));
    EXPECT_EQ(source(corpus, 1), (Ids{last}));
    EXPECT_EQ(target(corpus, 1), (Ids{'d', 'e', last}));
    EXPECT_EQ(corpus.lengths()[1].target, 3u);
    EXPECT_EQ(corpus.source_vocabulary(), vocabulary);
  }
}

TEST_F(CorpusTest, CountsWhatIsLeftOutAndKeepsTheLines) {
  CorpusSpec limited = spec("aaaa\n\nuab\n_\nab\n\xFF\n", "b\nb\nc\nb\ndddd\nuu\n");
  limited.longest_source = limited.longest_target = 3;
  build_corpus(limited, file());
  const Corpus corpus(file());
  ASSERT_EQ(corpus.size(), 2u);
  EXPECT_EQ(corpus.line(0), 3u);
  EXPECT_EQ(corpus.line(1), 6u);
  const CorpusCounts& counts = corpus.counts();
  EXPECT_EQ(counts.read.pairs, 5u);
  EXPECT_EQ(counts.read.empty, 1u);
  EXPECT_EQ(counts.read.text.invalid_utf8, 1u);
  EXPECT_EQ(counts.empty, 1u);
  EXPECT_EQ(counts.too_long, 2u);
  EXPECT_EQ(counts.source_tokens, 6u);
  EXPECT_EQ(counts.target_tokens, 3u);
  EXPECT_EQ(counts.source_unknown, 1u);
  EXPECT_EQ(counts.target_unknown, 2u);
}

TEST_F(CorpusTest, TheSameBytesForAnyNumberOfThreads) {
  const CorpusSpec large = large_spec();
  std::string first;
  for (const int threads : {1, 2, 5}) {
    const ThreadCountScope scope(threads);
    build_corpus(large, file());
    if (first.empty()) first = read(file());
    EXPECT_TRUE(read(file()) == first) << threads;
  }
  const Corpus corpus(file());
  LineReader sources(large.files.source), targets(large.files.target);
  for (size_t i = 0; i < corpus.size(); ++i) {
    do {
      ASSERT_TRUE(sources.next() && targets.next());
    } while (sources.number() < corpus.line(i));
    const std::string_view a = sources.line(), b = targets.line();
    ASSERT_EQ(source(corpus, i), large.source.encode(a));
    ASSERT_EQ(target(corpus, i), large.target.encode(b));
  }
}

TEST_F(CorpusTest, IsUsedAgainOnlyIfNothingChanged) {
  CorpusSpec first = spec("a\n", "b\n");
  size_t calls = 0;
  first.source.encode = [&, encode = first.source.encode](std::string_view line) {
    ++calls;
    return encode(line);
  };
  const auto builds = [&] {
    const size_t before = calls;
    open_corpus(first, file());
    return calls > before;
  };
  EXPECT_TRUE(builds());
  EXPECT_FALSE(builds());
  write("source", "c\n");
  EXPECT_TRUE(builds()) << "other text";
  EXPECT_EQ(source(open_corpus(first, file()), 0), Ids{'c'});
  ++first.target.fingerprint;
  EXPECT_TRUE(builds()) << "another tokenizer";
  first.longest_target = 7;
  EXPECT_TRUE(builds()) << "other limits";
  EXPECT_FALSE(builds());
  write("corpus", read(file()).substr(1));
  EXPECT_TRUE(builds()) << "damaged";
  EXPECT_FALSE(builds());
}

TEST_F(CorpusTest, AFailureLeavesTheOldFile) {
  build_corpus(spec("a\n", "b\n"), file());
  const std::string before = read(file());
  EXPECT_THROW(build_corpus(spec("a\nb\n", "b\n"), file()), DataError);
  CorpusSpec wrong = spec("a\n", "b\n");
  wrong.target.vocabulary = 'b';
  EXPECT_THROW(build_corpus(wrong, file()), DataError);
  EXPECT_EQ(read(file()), before);
}

TEST_F(CorpusTest, NothingLeftIsAnErrorThatSaysWhy) {
  CorpusSpec none = spec("aa\n\n", "b\nb\n");
  none.longest_source = 1;
  const std::string error = message_of<DataError>([&] { build_corpus(none, file()); });
  EXPECT_NE(error.find("no pair is left of 2: 1 have an empty side, 1 are too long"), error.npos)
      << error;
  none.files.source = "-";
  EXPECT_THROW(build_corpus(none, file()), ConfigError);
}

// Cut off behind our back, at any place: what is gone cannot be read, and the file is named.
TEST_F(CorpusTest, EveryTruncationWhileInUseIsAnError) {
  build_corpus(spec("abc\nd\n", "e\nfg\n"), file());
  const std::string whole = read(file());
  for (size_t size = 0; size < whole.size(); ++size) {
    write("corpus", whole);
    const Corpus corpus(file());
    std::filesystem::resize_file(file(), size);
    const auto read_all = [&] {
      for (const size_t pair : {0, 1}) {
        source(corpus, pair);
        target(corpus, pair);
      }
    };
    constexpr size_t kIdsEnd = 8 + 7 * 2;
    if (size < kIdsEnd) {
      expect_error<IoError>(read_all, file().string() + ": it was cut off, to ");
    } else {
      EXPECT_NO_THROW(read_all());
    }
  }
}

TEST_F(CorpusTest, EveryTruncationIsRefused) {
  build_corpus(spec("abc\nd\n", "e\nfg\n"), file());
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
  build_corpus(spec("abc\nd\n", "e\nfg\n"), file());
  const std::string whole = read(file());
  constexpr size_t kIdsEnd = 8 + 7 * 2;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 0x80);
    write("corpus", bad);
    const bool padding = i >= kIdsEnd && i < 24;
    if (i < 8 || i >= 24) {
      EXPECT_THROW(Corpus{file()}, FormatError) << i;
    } else if (!padding && i % 2 == 1) {  // a high byte: the id is out of the vocabulary
      const Corpus corpus(file());
      const auto read_all = [&] {
        for (const size_t pair : {0, 1}) {
          source(corpus, pair);
          target(corpus, pair);
        }
      };
      EXPECT_THROW(read_all(), FormatError) << i;
    }
  }
}

}  // namespace
}  // namespace attend
