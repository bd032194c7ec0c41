#include "attend/text/tokenizer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "attend/base/error.h"
#include "attend/base/fields.h"
#include "attend/base/rng.h"
#include "tests/files.h"
#include "tests/names.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

// WordPiece, which loses spaces, and byte-level BPE, which has 256 bytes to begin with, have tests
// of their own.
constexpr TokenizerKind kAll[] = {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                  TokenizerKind::kLine,      TokenizerKind::kByte,
                                  TokenizerKind::kBpe,       TokenizerKind::kUnigram};

// Sentences of a small language, always the same.
std::vector<std::string> sentences() {
  const std::string words[] = {"the",        "dog",     "cat",    "größer", "läuft", "schnell",
                               "über",       "Straße",  "un",     "été",    "的",    "猫",
                               "\U0001F408", "running", "walked", "Baum"};
  const RandomStream random(7, 0);
  std::vector<std::string> lines = {"the dog"};
  for (uint64_t i = 0; i < 400; ++i) {
    std::string line;
    for (uint64_t j = 0; j < 3 + i % 7; ++j) {
      line += (j > 0 ? " " : "") + words[random.below(i * 16 + j, std::size(words))];
    }
    lines.push_back(line);
  }
  return lines;
}

std::shared_ptr<const Tokenizer> trained(TokenizerKind kind, size_t vocabulary = 90) {
  if (kind == TokenizerKind::kLine) vocabulary = 0;  // there are hundreds
  return train_tokenizer({.kind = kind, .vocabulary = vocabulary}, sentences());
}

// Whether the content is refused, with an error that names the file.
bool refused(std::string_view content) {
  try {
    parse_tokenizer(content, "model/vocab.txt");
    return false;
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("model/vocab.txt"), std::string::npos) << error.what();
    return true;
  }
}

class TokenizerFiles : public DirectoryTest {
 protected:
  const fs::path file_ = directory_ / "tokenizer";
};

TEST(Tokenizer, NamesParseAndPrint) {
  expect_names<TokenizerKind>(
      {"character", "word", "line", "byte", "bpe", "unigram", "wordpiece", "byte_bpe"});
}

TEST(Tokenizer, ConfigListsItsFields) {
  TokenizerConfig config;
  for (const Field& field : fields_of(config).fields) {
    if (field.path == "kind") {
      EXPECT_EQ(field.type->choices.size(), std::size(kAll) + 2);
      EXPECT_TRUE(field.set({{"unigram"}}));
    }
    EXPECT_FALSE(field.help.empty());
  }
  EXPECT_EQ(config.kind, TokenizerKind::kUnigram);
}

TEST(Tokenizer, TextComesBack) {
  for (const TokenizerKind kind : kAll) {
    const auto tokenizer = trained(kind);
    for (const std::string& line : sentences()) {
      const Ids ids = tokenizer->encode(line);
      for (const int32_t id : ids) {
        ASSERT_GE(id, kSpecialTokens) << name_of(kind) << " " << line;
        ASSERT_LT(id, static_cast<int32_t>(tokenizer->size()));
      }
      ASSERT_EQ(tokenizer->decode(ids), line) << name_of(kind);
    }
    EXPECT_TRUE(tokenizer->encode("").empty());
    EXPECT_EQ(tokenizer->decode({}), "");
  }
}

TEST(Tokenizer, SpecialIdsAreTheSameAndSkipped) {
  for (const TokenizerKind kind : kAll) {
    const auto tokenizer = trained(kind);
    EXPECT_EQ(tokenizer->piece(kUnknown), "<unk>");
    EXPECT_EQ(tokenizer->piece(kStart), "<s>");
    EXPECT_EQ(tokenizer->piece(kEnd), "</s>");
    Ids ids = tokenizer->encode("the dog");
    ids.insert(ids.begin(), kStart);
    ids.insert(ids.begin() + 2, kUnknown);
    ids.push_back(kEnd);
    EXPECT_EQ(tokenizer->decode(ids), "the dog") << name_of(kind);
    const auto size = static_cast<int32_t>(tokenizer->size());
    EXPECT_THROW(tokenizer->decode(Ids{size}), DataError);
    EXPECT_THROW(tokenizer->piece(-1), DataError);
  }
}

TEST(Tokenizer, TextNeverSpellsASpecialToken) {
  const std::vector<std::string> lines = {"<s> is </s>", "< > a / <> </s > <s >", "unk"};
  for (const TokenizerKind kind : kAll) {
    const auto tokenizer = train_tokenizer({.kind = kind, .vocabulary = 60}, lines);
    const Ids ids = tokenizer->encode("<s> is </s>");
    for (const int32_t id : ids) EXPECT_GE(id, kSpecialTokens);
    EXPECT_EQ(tokenizer->decode(ids), "<s> is </s>") << name_of(kind);
  }
}

TEST(Tokenizer, BytesComeBackWhateverTheyAre) {
  const auto tokenizer =
      train_tokenizer({.kind = TokenizerKind::kByte}, std::vector<std::string>{});
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(all)), all);
  EXPECT_EQ(tokenizer->size(), 259u);
  EXPECT_EQ(tokenizer->piece(3 + 'a'), "a");
  EXPECT_EQ(tokenizer->piece(3 + '\n'), "<0x0A>");
}

TEST(Tokenizer, MostFrequentComeFirstAndTheRestIsUnknown) {
  const std::vector<std::string> lines = {"b a c b", "  b\ta ", "d"};
  const auto words = train_tokenizer({.kind = TokenizerKind::kWord, .vocabulary = 6}, lines);
  EXPECT_EQ(words->size(), 6u);
  EXPECT_EQ(words->encode("b a c d"), (Ids{3, 4, 5, kUnknown}));
  EXPECT_EQ(words->decode(words->encode(" b   a ")), "b a");
  const auto common = train_tokenizer({.kind = TokenizerKind::kWord, .minimum_count = 2}, lines);
  EXPECT_EQ(common->size(), 5u);
  const auto characters = train_tokenizer({.kind = TokenizerKind::kCharacter}, lines);
  EXPECT_EQ(characters->encode("ab ü"), (Ids{5, 4, 3, kUnknown}));
  EXPECT_EQ(characters->piece(3), "▁");
}

TEST(Tokenizer, ALineCanBeAToken) {
  const std::vector<std::string> lines = {"very good", " very good\t", "bad", "", "\xFF no"};
  const auto labels = train_tokenizer({.kind = TokenizerKind::kLine}, lines);
  EXPECT_EQ(labels->size(), 6u);
  EXPECT_EQ(labels->encode("  very good "), Ids{3});
  EXPECT_EQ(labels->encode("very  good"), Ids{kUnknown});
  EXPECT_TRUE(labels->encode(" \t").empty());
  EXPECT_EQ(labels->piece(3), "very▁good");
  EXPECT_EQ(labels->decode(Ids{3, 4}), "very good bad");
  EXPECT_TRUE(refused("attend tokenizer 1 line 4\n<unk>\n<s>\n</s>\n\\x20bad\n"));
}

TEST(Tokenizer, CharactersAreCodePoints) {
  const std::vector<std::string> lines = {"é猫🐈e\u0301\xFF"};
  const auto tokenizer = train_tokenizer({.kind = TokenizerKind::kCharacter}, lines);
  EXPECT_EQ(tokenizer->encode(lines[0]).size(), 6u);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(lines[0])), "é猫🐈e\u0301\uFFFD");
}

TEST(Tokenizer, LowerCaseIsUnicode) {
  for (const TokenizerKind kind : kAll) {
    const auto tokenizer = train_tokenizer(
        {.kind = kind, .vocabulary = 40, .lowercase = true},
        std::vector<std::string>{"über ÄPFEL ÇA Été", "äpfel", "ça", "weiß", "über äpfel"});
    EXPECT_EQ(tokenizer->encode("ÜBER Äpfel"), tokenizer->encode("über äpfel")) << name_of(kind);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("ÜBER Äpfel")), "über äpfel") << name_of(kind);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("Weiß")), "weiß") << name_of(kind);
  }
}

TEST(Tokenizer, SubwordsFillTheVocabularyThatTheyAreGiven) {
  const RandomStream random(5, 0);
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string line;
    for (uint64_t j = 0; j < 12; ++j) {
      const uint64_t bits = random.bits(i * 12 + j);
      line += {"bdfgklmnprst"[bits % 12], "aeiou"[bits / 12 % 5], ' '};
      if (bits / 60 % 4 != 0) line.pop_back();
    }
    lines.push_back(line + "end");
  }
  for (const TokenizerKind kind : {TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    const auto small = train_tokenizer({.kind = kind, .vocabulary = 50}, lines);
    const auto large = train_tokenizer({.kind = kind, .vocabulary = 300}, lines);
    EXPECT_EQ(small->size(), 50u);
    EXPECT_EQ(large->size(), 300u);
    EXPECT_LT(large->encode(lines[0]).size(), small->encode(lines[0]).size());
    EXPECT_LT(trained(kind, 5000)->size(), 5000u) << "a small text gives what it can";
  }
}

TEST(Tokenizer, ByteFallbackKnowsEveryCharacter) {
  for (const TokenizerKind kind : {TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    const auto tokenizer =
        train_tokenizer({.kind = kind, .vocabulary = 320, .byte_fallback = true}, sentences());
    const std::string strange = "the ☃ dog";
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(strange)), strange);
  }
}

// As language models need it: line by line or all at once, the text comes back to the letter.
TEST(Tokenizer, LosslessSubwordsKeepWhiteSpaceAndLineEnds) {
  for (const TokenizerKind kind : {TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    const auto tokenizer = train_tokenizer(
        {.kind = kind, .vocabulary = 400, .byte_fallback = true, .lossless = true}, sentences());
    const std::vector<std::string> lines = {"  the  dog\n", "\n", "\tthe ﬁne dog \n", " cat"};
    std::string text;
    std::vector<int32_t> ids;
    for (const std::string& line : lines) {
      text += line;
      const std::vector<int32_t> more = tokenizer->encode(line);
      ids.insert(ids.end(), more.begin(), more.end());
    }
    EXPECT_EQ(tokenizer->decode(ids), text) << name_of(kind);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << name_of(kind);
  }
}

TEST(Tokenizer, UnusableConfigsAndNoTextAreRefused) {
  for (const TokenizerKind kind : {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                   TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    EXPECT_THROW(trained(kind, 3), ConfigError);
    for (const auto& none : {std::vector<std::string>{}, std::vector<std::string>{"", ""}}) {
      EXPECT_THROW(train_tokenizer({.kind = kind}, none), DataError) << name_of(kind);
    }
  }
  // Fewer than there are characters.
  EXPECT_THROW(trained(TokenizerKind::kBpe, 10), ConfigError);
  EXPECT_THROW(trained(TokenizerKind::kUnigram, 10), ConfigError);
  EXPECT_THROW(train_tokenizer({.character_coverage = 1.5}, sentences()), ConfigError);
}

TEST(Tokenizer, SubwordsAreLearntFromStrangeLines) {
  std::vector<std::string> lines = sentences();
  lines.insert(lines.end(), {std::string(100'000, 'x'), std::string("a\0b", 3), "\xFF\xFE", "",
                             "\t \t", "▁▁", "\u2585"});
  for (const TokenizerKind kind : {TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    const auto tokenizer = train_tokenizer({.kind = kind, .vocabulary = 100}, lines);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("the dog")), "the dog");
  }
}

TEST(Tokenizer, TrainingIsSilentAndRepeats) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const TokenizerKind kind : kAll) {
    EXPECT_EQ(trained(kind)->serialized(), trained(kind)->serialized()) << name_of(kind);
    TokenizerConfig sampled{.kind = kind, .vocabulary = 80, .sample = 200};
    EXPECT_EQ(train_tokenizer(sampled, sentences())->serialized(),
              train_tokenizer(sampled, sentences())->serialized());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Tokenizer, ManyThreadsUseOne) {
  for (const TokenizerKind kind : kAll) {
    const auto tokenizer = trained(kind);
    const std::vector<std::string> lines = sentences();
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (const std::string& line : lines) {
          EXPECT_EQ(tokenizer->decode(tokenizer->encode(line)), line);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(TokenizerFiles, SaveAndLoadGiveTheSame) {
  for (const TokenizerKind kind : kAll) {
    for (const bool lowercase : {false, true}) {
      const auto tokenizer =
          train_tokenizer({.kind = kind, .vocabulary = 90, .lowercase = lowercase}, sentences());
      tokenizer->save(file_);
      const auto loaded = load_tokenizer(file_);
      EXPECT_EQ(loaded->kind(), kind);
      EXPECT_EQ(loaded->size(), tokenizer->size());
      EXPECT_EQ(loaded->fingerprint(), tokenizer->fingerprint());
      for (const std::string& line : sentences()) {
        ASSERT_EQ(loaded->encode(line), tokenizer->encode(line));
      }
    }
  }
  EXPECT_NE(trained(TokenizerKind::kWord)->fingerprint(),
            trained(TokenizerKind::kWord, 9)->fingerprint());
}

TEST_F(TokenizerFiles, AwkwardPiecesSurviveTheFile) {
  const std::vector<std::string> lines = {"a\\b \n\t\r\\x20 \x7F\x01", "\\"};
  for (const TokenizerKind kind :
       {TokenizerKind::kCharacter, TokenizerKind::kWord, TokenizerKind::kLine}) {
    const auto tokenizer = train_tokenizer({.kind = kind}, lines);
    tokenizer->save(file_);
    EXPECT_EQ(load_tokenizer(file_)->encode(lines[0]), tokenizer->encode(lines[0]));
    EXPECT_EQ(load_tokenizer(file_)->decode(tokenizer->encode(lines[0])),
              tokenizer->decode(tokenizer->encode(lines[0])));
  }
}

TEST(Tokenizer, EveryTruncationIsRefused) {
  for (const TokenizerKind kind : kAll) {
    const std::string whole = trained(kind)->serialized();
    // A subword model is mostly a character map of 240 kB: there, some places are enough.
    const size_t step = whole.size() > 20'000 ? 997 : 1;
    for (size_t size = 0; size < whole.size(); size += step) {
      ASSERT_TRUE(refused(whole.substr(0, size))) << name_of(kind) << " cut at " << size;
    }
    for (size_t size = 0; size < std::min<size_t>(whole.size(), 2500); ++size) {
      ASSERT_TRUE(refused(whole.substr(0, size))) << name_of(kind) << " cut at " << size;
    }
  }
}

// SentencePiece would follow an offset of its character map to wherever it points.
TEST(Tokenizer, CharacterMapsThatPointOutsideAreRefused) {
  const std::string whole = trained(TokenizerKind::kBpe)->serialized();
  constexpr std::string_view kBefore = "nmt_nfkc\x12";  // the map follows, after 3 bytes of length
  const size_t map = whole.find(kBefore) + kBefore.size() + 3;
  uint32_t bytes = 0;
  std::memcpy(&bytes, whole.data() + map, 4);
  ASSERT_GT(bytes, 100'000u);
  ASSERT_LT(bytes, whole.size());
  size_t leaves = 0;
  for (uint32_t i = 0; i < bytes / 4; i += 97) {
    const size_t place = map + 4 + 4 * i;
    uint32_t unit = 0;
    std::memcpy(&unit, whole.data() + place, 4);
    const bool leaf = (unit & 0x80000000) != 0;
    leaves += leaf ? 1 : 0;
    // A text far away and no leaf at all, or a step far away.
    for (const uint32_t change :
         {leaf ? 0x40000000u : 0x7FFFFE00u & ~unit, leaf ? 0x80000000u : 0}) {
      if (change == 0) continue;
      const uint32_t bad_unit = unit ^ change;
      std::string bad = whole;
      std::memcpy(bad.data() + place, &bad_unit, 4);
      ASSERT_TRUE(refused(bad)) << i << " " << unit;
    }
  }
  EXPECT_GT(leaves, 0u);
}

TEST(Tokenizer, BadVocabulariesAreRefused) {
  const std::string specials = "<unk>\n<s>\n</s>\n";
  for (const std::string& text : {
           "attend tokenizer 2 word 4\n" + specials + "a\n",          // from the future
           "attend tokenizer 1 bpe 4\n" + specials + "a\n",           // not a list
           "attend tokenizer 1 word 5\n" + specials + "a\n",          // one too few
           "attend tokenizer 1 word 4\n" + specials + "a\nb\n",       // one too many
           "attend tokenizer 1 word 5\n" + specials + "a\na\n",       // twice
           "attend tokenizer 1 word 5\n" + specials + "a\n\\x61\n",   // the same
           "attend tokenizer 1 word 4\n" + specials + "a b\n",        // two words
           "attend tokenizer 1 word 4\n" + specials + "\n",           // none
           "attend tokenizer 1 word 4\n" + specials + "a\\x2\n",      // half an escape
           "attend tokenizer 1 word 4\n" + specials + "\\x20\n",      // white space
           "attend tokenizer 1 character 4\n" + specials + "ab\n",    // two characters
           "attend tokenizer 1 character 4\n" + specials + "\xFF\n",  // no character
           "attend tokenizer 1 word -4\n" + specials + "a\n",
           "attend tokenizer 1 word 4x\n" + specials + "a\n",
           "attend tokenizer 1 word 18446744073709551615\n" + specials + "a\n",
           std::string("attend tokenizer 1 word 4\n<s>\n<unk>\n</s>\na\n"),
           std::string("attend tokenizer 1 word 2\n<unk>\n<s>\n"),
           "attend tokenizer 1 word mask 4\n" + specials + "a\n",            // the mask is missing
           "attend tokenizer 1 word mask lowercase 4\n" + specials + "a\n",  // in another order
           std::string("attend tokenizer 1 byte mask 259\n"),
           std::string("attend tokenizer 1 byte 258\n"),
           std::string("attend tokenizer 1 byte 259\na\n"),
           std::string("attend tokenizer \n"),
           std::string("just some text\n"),
       }) {
    EXPECT_TRUE(refused(text)) << text;
  }
}

// A file with bytes changed is refused, or is a vocabulary that works; it never crashes.
TEST(Tokenizer, GarbageNeverHarms) {
  const RandomStream random(3, 0);
  uint64_t place = 0;
  for (const TokenizerKind kind : kAll) {
    const std::string whole = trained(kind)->serialized();
    for (int round = 0; round < 200; ++round) {
      std::string bad = whole;
      // Half of the changes near the front, where a large model has its pieces.
      const size_t range = round % 2 == 0 ? bad.size() : std::min<size_t>(bad.size(), 2000);
      for (uint64_t i = 0; i < 1 + static_cast<uint64_t>(round) % 4; ++i) {
        const uint64_t where = random.below(++place, range);
        bad[where] = static_cast<char>(random.bits(++place));
      }
      try {
        const auto tokenizer = parse_tokenizer(bad, "bad");
        for (const std::string& line : sentences()) tokenizer->decode(tokenizer->encode(line));
        tokenizer->encode("\xFFＡ①\u0301ﬁ한글 ½");
      } catch (const Error&) {
      }
    }
  }
  for (int round = 0; round < 200; ++round) {
    std::string noise;
    for (uint64_t i = random.below(++place, 300); i > 0; --i) {
      noise += static_cast<char>(random.bits(++place));
    }
    EXPECT_TRUE(refused(noise));
  }
}

TEST_F(TokenizerFiles, AMissingFileIsAnIoError) {
  EXPECT_THROW(load_tokenizer(directory_ / "none"), IoError);
  EXPECT_THROW(trained(TokenizerKind::kWord)->save(directory_ / "none" / "vocab.txt"), IoError);
}

}  // namespace
}  // namespace attend
