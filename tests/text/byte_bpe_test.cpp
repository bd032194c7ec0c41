#include "attend/text/byte_bpe.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/text/byte_words.h"
#include "attend/text/pair_learning.h"
#include "tests/errors.h"

namespace attend {
namespace {

std::vector<std::string> byte_words_of(std::string_view text) {
  std::vector<std::string> words;
  ByteWords(text).each([&](std::string_view word) { words.emplace_back(word); });
  return words;
}

std::string random_bytes(uint64_t seed, size_t most) {
  const RandomStream random(seed, 0);
  std::string bytes;
  for (uint64_t i = 1 + random.below(0, most); i > 0; --i) {
    bytes += static_cast<char>(random.bits(i));
  }
  return bytes;
}

std::vector<std::string> byte_bpe_lines() {
  std::vector<std::string> lines(10, "the dog läuft, the dogs walked and talked; don't you?");
  lines.insert(lines.end(), 5, "今天 猫 🐈 aaaaaaaa\n");
  return lines;
}

std::shared_ptr<const Tokenizer> trained_byte_bpe(TokenizerConfig config = {}) {
  config.kind = TokenizerKind::kByteBpe;
  if (config.vocabulary == 8000) config.vocabulary = 300;
  return train_tokenizer(config, byte_bpe_lines());
}

TEST(ByteWords, AreThoseOfGpt2) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(byte_words_of("Hello world, it's 42nd!"),
            (Words{"Hello", " world", ",", " it", "'s", " 42", "nd", "!"}));
  EXPECT_EQ(byte_words_of("we'll've'DON'T"), (Words{"we", "'ll", "'ve", "'", "DON", "'", "T"}));
  EXPECT_EQ(byte_words_of("a  b   \n c \n"), (Words{"a", " ", " b", "   \n", " c", " \n"}));
  EXPECT_EQ(byte_words_of("a\nb\n\nc"), (Words{"a", "\n", "b", "\n", "\n", "c"}));
  EXPECT_EQ(byte_words_of("\u00a0é½ ٣猫\u3000\u3000x"),
            (Words{"\u00a0", "é", "½", " ٣", "猫", "\u3000", "\u3000", "x"}));
  EXPECT_EQ(byte_words_of(" '' 's"), (Words{" ''", " '", "s"}));
  EXPECT_EQ(byte_words_of("a\xff\xfe b"), (Words{"a", "\xff\xfe", " b"}));
  EXPECT_EQ(byte_words_of(""), Words{});
}

TEST(ByteWords, TogetherAreTheText) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const std::string text = random_bytes(seed, 60);
    std::string joined;
    for (const std::string& word : byte_words_of(text)) {
      ASSERT_FALSE(word.empty());
      joined += word;
    }
    ASSERT_EQ(joined, text);
  }
}

TEST(ByteBpe, AnyBytesComeBack) {
  const auto tokenizer = trained_byte_bpe();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(all)), all);
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::string text = random_bytes(seed, seed % 20 == 0 ? 3000 : 50);
    const std::vector<int32_t> ids = tokenizer->encode(text);
    ASSERT_EQ(tokenizer->decode(ids), text);
    ASSERT_EQ(tokenizer->pieces(text).size(), ids.size());
    for (const int32_t id : ids) ASSERT_GE(id, tokenizer->first_piece());
  }
}

TEST(ByteBpe, LearnsFrequentPairs) {
  const auto tokenizer = trained_byte_bpe();
  EXPECT_EQ(tokenizer->size(), 300u);
  EXPECT_EQ(tokenizer->special(), (SpecialTokens{kUnknown, kStart, kEnd, -1}));
  EXPECT_EQ(tokenizer->piece(3), "<0x00>");
  EXPECT_EQ(tokenizer->piece(3 + 'a'), "a");
  EXPECT_EQ(tokenizer->pieces("the dogs"), (std::vector<std::string>{"the", "▁dogs"}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("ÜBER the <s>")), "ÜBER the <s>");
  const auto lower = trained_byte_bpe({.lowercase = true});
  EXPECT_EQ(lower->decode(lower->encode("ÜBER the")), "über the");
}

TEST(ByteBpe, NeedsRoomForAllBytes) {
  const auto trained = [](size_t vocabulary) {
    return trained_byte_bpe({.vocabulary = vocabulary});
  };
  const std::string message = message_of<ConfigError>([&] { trained(258); });
  EXPECT_NE(message.find("set the vocabulary to 259 or more"), std::string::npos) << message;
  EXPECT_EQ(trained(259)->encode("abc").size(), 3u);
  EXPECT_THROW(train_tokenizer({.kind = TokenizerKind::kByteBpe}, std::vector<std::string>{""}),
               DataError);
}

// Of merges given by rank: the lowest first, and of those the leftmost.
TEST(ByteBpe, MergesByRankWhateverTheLength) {
  constexpr int32_t kA = 0, kB = 1;
  const std::vector<PairMerge> rules = {
      {kA, kB, 2}, {kA, kA, 3}, {3, 3, 4}, {2, kA, 5}, {kB, 4, 6}};
  const PairMerges merges(rules);
  const RandomStream random(4, 0);
  for (uint64_t round = 0; round < 300; ++round) {
    std::vector<int32_t> ids = {99};  // before the word
    for (uint64_t i = 0; i < 1 + round; ++i) {
      ids.push_back(static_cast<int32_t>(random.below(round * 400 + i, 4) == 0));
    }
    std::vector<int32_t> plain(ids.begin() + 1, ids.end());
    while (true) {
      size_t best = rules.size(), place = 0;
      for (size_t i = 0; i + 1 < plain.size(); ++i) {
        for (size_t rank = 0; rank < best; ++rank) {
          if (rules[rank].left != plain[i] || rules[rank].right != plain[i + 1]) continue;
          best = rank;
          place = i;
        }
      }
      if (best == rules.size()) break;
      plain[place] = rules[best].made;
      plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
    merges.apply(ids, 1);
    EXPECT_EQ(std::vector<int32_t>(ids.begin() + 1, ids.end()), plain) << round;
    EXPECT_EQ(ids[0], 99);
  }
}

// Quadratic time would take minutes.
TEST(ByteBpe, LongWordsAreMergedInLittleTime) {
  const auto tokenizer = trained_byte_bpe();
  for (const char* unit : {"a", "ab", "the", "\xff"}) {
    std::string word;
    while (word.size() < 1'000'000) word += unit;
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(word)), word);
  }
}

TEST(PairLearning, JoinsTheMostFrequentPairFirst) {
  // "aab" 5 times, "ab" 2 times, "bc" 6 times.
  std::vector<std::string> pieces = {"a", "b", "c"};
  const auto merges =
      learn_pairs({{{0, 0, 1}, 5}, {{0, 1}, 2}, {{1, 2}, 6}}, pieces, {.most_pieces = 6});
  ASSERT_EQ(merges.size(), 3u);
  EXPECT_EQ(pieces, (std::vector<std::string>{"a", "b", "c", "ab", "bc", "aab"}));
  EXPECT_EQ(merges[0].made, 3);
  EXPECT_EQ(merges[2].left, 0);
  EXPECT_EQ(merges[2].right, 3);
}

TEST(PairLearning, LeavesRarePairsAlone) {
  std::vector<std::string> pieces = {"a", "b", "##b"};
  EXPECT_TRUE(learn_pairs({{{0, 1}, 1}}, pieces, {.most_pieces = 100}).empty());
  const auto merges =
      learn_pairs({{{0, 2, 2}, 9}}, pieces, {.most_pieces = 100, .continues = "##"});
  EXPECT_EQ(merges.size(), 2u);
  EXPECT_EQ(pieces.back(), "abb");
}

TEST(ByteBpe, BadFilesAreRefused) {
  const std::string whole = trained_byte_bpe({.vocabulary = 261})->serialized();
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string bad = whole;
    const size_t at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    return message_of<FormatError>([&] { parse_tokenizer(bad, "v"); });
  };
  EXPECT_NE(message("merges 2", "merges 3").find("the line is cut off"), std::string::npos);
  EXPECT_NE(message("merges 2", "merges 1").find("1 merges are announced, and more follow"),
            std::string::npos);
  EXPECT_NE(message("special 0 1", "special 0 261").find("261 is no id of 261 tokens"),
            std::string::npos);
  EXPECT_NE(message("special 0 1", "special 0 -1").find("'-1' is no id"), std::string::npos);
  EXPECT_NE(message("\nq\n", "\nqq\n").find("no piece for the byte 0x71"), std::string::npos);
  EXPECT_NE(message("\nq\n", "\nr\n").find("the piece 'r' is there twice"), std::string::npos);
  EXPECT_NE(message("special 0 1", "special 0 100").find("no piece for the byte 0x61"),
            std::string::npos);
  const size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  const std::string merge = whole.substr(last);
  EXPECT_NE(
      message(merge, "3 3\n").find("merge 2 makes '\\x00\\x00', which is not among the pieces"),
      std::string::npos);
  EXPECT_NE(message(merge, "1 3\n").find("merge 2 is of a special token"), std::string::npos);
  const size_t before = whole.rfind('\n', last - 2) + 1;
  EXPECT_NE(message(merge, whole.substr(before, last - before)).find("merge 2 is there twice"),
            std::string::npos);
}

}  // namespace
}  // namespace attend
