#include "attend/text/wordpiece.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/text/basic_words.h"
#include "tests/errors.h"

namespace attend {
namespace {

using Words = std::vector<std::string>;

Words words_of_line(std::string_view line, bool lowercase) {
  Words words;
  BasicWords(lowercase).each(line, [&](std::string_view word, bool too_long) {
    words.push_back(too_long ? "(too long)" : std::string(word));
  });
  return words;
}

TEST(BasicWords, LowerCasesAndStripsAccents) {
  EXPECT_EQ(words_of_line("Élève GRÖSSE İ ẞ \u212b", true),
            (Words{"eleve", "grosse", "i", "ß", "a"}));
  EXPECT_EQ(words_of_line("Élève e\u0301", false), (Words{"Élève", "e\u0301"}));
}

TEST(BasicWords, SplitsAtSpacesPunctuationAndChineseCharacters) {
  EXPECT_EQ(words_of_line(" a\tb\nc\u3000d\u2028e ", true), (Words{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(words_of_line("don't $5—“x”", true),
            (Words{"don", "'", "t", "$", "5", "—", "“", "x", "”"}));
  EXPECT_EQ(words_of_line("ab猫犬c カタ", true), (Words{"ab", "猫", "犬", "c", "カタ"}));
  EXPECT_EQ(words_of_line("€½x", true), Words{"€½x"}) << "symbols are no punctuation";
}

TEST(BasicWords, DropsControlCharactersWithinWords) {
  EXPECT_EQ(words_of_line("a\x01\x7f\u200d\u00ad\ufeffb\ufffd\xff", true), Words{"ab"});
  EXPECT_EQ(words_of_line(std::string("a\0b", 3), true), Words{"ab"});
}

TEST(BasicWords, SaysWhichWordsAreTooLong) {
  const std::string hundred(100, 'x');
  EXPECT_EQ(words_of_line(hundred + " " + hundred + "x a", true),
            (Words{hundred, "(too long)", "a"}));
  std::string accents;
  for (int i = 0; i < 101; ++i) accents += "ж";
  EXPECT_EQ(words_of_line(accents, false), Words{"(too long)"});
}

std::shared_ptr<const Tokenizer> small_wordpiece() {
  return make_wordpiece(true, {"[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un",
                               "##aff", "##able", "aff", "the", "[", "]", "mask", ".", "unk"});
}

TEST(Wordpiece, TakesTheLongestPieces) {
  const auto tokenizer = small_wordpiece();
  EXPECT_EQ(tokenizer->encode("The unaffable aff"), (std::vector<int32_t>{10, 6, 7, 8, 9}));
  EXPECT_EQ(tokenizer->encode("unaffables the"), (std::vector<int32_t>{2, 10}))
      << "a word that does not come out is unknown as a whole";
  EXPECT_EQ(tokenizer->pieces("unaffables un"), (Words{"<unk:unaffables>", "un"}));
  EXPECT_EQ(tokenizer->special(), (SpecialTokens{2, 3, 4, 5}));
  EXPECT_EQ(tokenizer->first_piece(), 6);
  EXPECT_TRUE(tokenizer->begins_word(6));
  EXPECT_FALSE(tokenizer->begins_word(7));
}

TEST(Wordpiece, TextNeverSpellsASpecialToken) {
  const auto tokenizer = small_wordpiece();
  EXPECT_EQ(tokenizer->encode("[MASK][mask]"), (std::vector<int32_t>{11, 13, 12, 11, 13, 12}));
  EXPECT_EQ(tokenizer->encode("[UNK]"), (std::vector<int32_t>{11, 15, 12}));
}

TEST(Wordpiece, DecodesAsAPersonWrites) {
  const std::vector<std::string> lines(
      2,
      "don't stop, (really): it's 3.5% of 1,000 at 10:30 well-known e/f “quoted” dogs' end. x [y]");
  const auto tokenizer =
      train_tokenizer({.kind = TokenizerKind::kWordpiece, .vocabulary = 300}, lines);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(lines[0])), lines[0]);
  std::vector<int32_t> ids = tokenizer->encode("well known");
  ids.insert(ids.begin(), {kStart, kUnknown});
  ids.push_back(kEnd);
  EXPECT_EQ(tokenizer->decode(ids), "well known");
  EXPECT_EQ(small_wordpiece()->decode(std::vector<int32_t>{0, 7, 8, 10, 0, 14}), "affable the.");
}

TEST(Wordpiece, LearnsFrequentPiecesAndKnowsAllCharacters) {
  std::vector<std::string> lines(20, "walking talking walked talked Walks 猫");
  lines.push_back("jumping");
  const auto tokenizer = train_tokenizer(
      {.kind = TokenizerKind::kWordpiece, .vocabulary = 60, .lowercase = true, .mask = true},
      lines);
  EXPECT_EQ(tokenizer->piece(0), "[UNK]");
  EXPECT_EQ(tokenizer->piece(3), "[MASK]");
  EXPECT_EQ(tokenizer->pieces("walking"), Words{"walking"});
  EXPECT_GT(tokenizer->pieces("jumped").size(), 1u);
  for (const char* word : {"jumped", "gnikjup", "猫"}) {
    const auto ids = tokenizer->encode(word);
    EXPECT_EQ(std::ranges::count(ids, kUnknown), 0) << word;
  }
  EXPECT_EQ(tokenizer->encode("xyz"), std::vector<int32_t>{kUnknown});
}

TEST(Wordpiece, SaysHowLargeTheVocabularyMustBe) {
  const std::vector<std::string> lines = {"abc .", "cab"};  // 4 characters, 3 of them also inside
  const auto trained = [&](size_t vocabulary) {
    return train_tokenizer({.kind = TokenizerKind::kWordpiece, .vocabulary = vocabulary}, lines);
  };
  const std::string message = message_of<ConfigError>([&] { trained(9); });
  EXPECT_NE(message.find("set the vocabulary to 10 or more"), std::string::npos) << message;
  EXPECT_EQ(trained(10)->size(), 10u);
  EXPECT_THROW(trained(0), ConfigError);
  EXPECT_THROW(
      train_tokenizer({.kind = TokenizerKind::kWordpiece}, std::vector<std::string>{"", " \t"}),
      DataError);
}

TEST(Wordpiece, RareCharactersCanBeLeftOut) {
  std::vector<std::string> lines(50, "abab abab");
  lines.push_back("a猫");
  const auto all = train_tokenizer({.kind = TokenizerKind::kWordpiece, .vocabulary = 50}, lines);
  const auto some = train_tokenizer(
      {.kind = TokenizerKind::kWordpiece, .vocabulary = 50, .character_coverage = 0.99}, lines);
  EXPECT_EQ(std::ranges::count(all->encode("猫"), kUnknown), 0);
  EXPECT_EQ(some->encode("猫 a"), (std::vector<int32_t>{kUnknown, some->encode("a")[0]}));
}

TEST(Wordpiece, SurvivesTheFile) {
  const auto tokenizer = small_wordpiece();
  const auto again = parse_tokenizer(tokenizer->serialized(), "tokenizer.model");
  EXPECT_EQ(again->serialized(), tokenizer->serialized());
  EXPECT_EQ(again->encode("The unaffable"), tokenizer->encode("The unaffable"));
  EXPECT_EQ(again->special(), tokenizer->special());
}

TEST(Wordpiece, BadFilesAreRefused) {
  const std::string special = "[UNK]\n[CLS]\n[SEP]\n";
  const auto message = [&](const std::string& content) {
    return message_of<FormatError>(
        [&] { parse_tokenizer("attend tokenizer 1 wordpiece " + content, "v"); });
  };
  EXPECT_NE(message("4\n" + special + "a\na\n").find("4 tokens are announced, and more follow"),
            std::string::npos);
  EXPECT_NE(message("5\n" + special + "a\na\n").find("v:6: 'a' is there twice"), std::string::npos);
  EXPECT_NE(message("4\n" + special + "a b\n").find("'a b' is not a piece of a word"),
            std::string::npos);
  EXPECT_NE(message("4\n" + special + "\xff\n").find("is not a piece of a word"),
            std::string::npos);
  EXPECT_NE(message("2\n[UNK]\n[CLS]\n").find("has [SEP], and this one does not"),
            std::string::npos);
  EXPECT_NE(message("9\n" + special).find("9 tokens are announced and 3 whole lines follow"),
            std::string::npos);
}

// The longest piece that fits, from the start of the word.
std::vector<int32_t> plainly_split(const Tokenizer& tokenizer, const std::string& word) {
  std::vector<int32_t> ids;
  for (size_t at = 0; at < word.size();) {
    size_t size = word.size() - at;
    int32_t found = -1;
    for (; size > 0 && found < 0; --size) {
      const std::string piece = (at == 0 ? "" : "##") + word.substr(at, size);
      for (int32_t id = tokenizer.first_piece(); static_cast<size_t>(id) < tokenizer.size(); ++id) {
        if (tokenizer.piece(id) == piece) found = id;
      }
    }
    if (found < 0) return {tokenizer.special().unknown};
    ids.push_back(found);
    at += size + 1;
  }
  return ids;
}

// Words are cached; those that share a place of the cache must not be mixed up.
TEST(Wordpiece, ManyWordsAreSplitAsOneIs) {
  const auto tokenizer = make_wordpiece(
      true, {"[UNK]", "[CLS]", "[SEP]", "a", "b", "ab", "##a", "##b", "##aba", "##bb", "aab"});
  const RandomStream random(11, 0);
  for (uint64_t i = 0; i < 20'000; ++i) {
    std::string word;
    for (uint64_t j = 0; j < 1 + i % 28; ++j) {
      word += random.below(i * 32 + j, 100) == 0 ? 'x' : "ab"[random.below(i * 32 + j, 2)];
    }
    ASSERT_EQ(tokenizer->encode(word), plainly_split(*tokenizer, word)) << word;
  }
}

}  // namespace
}  // namespace attend
