#include "attend/text/import.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "tests/errors.h"

namespace attend {
namespace {

const std::string kVocabTxt = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n##s\ndog\n";

std::string import_message(std::vector<ImportedFile> files) {
  return message_of<Error>([&] { import_tokenizer(files, {}); });
}

// All bytes, some merges and a special token, in the form of GPT-2's files.
struct Gpt2Files {
  std::string json, merges;

  explicit Gpt2Files(const std::string& special = "<|endoftext|>") {
    std::string pieces;
    int id = 0;
    const auto add = [&](const std::string& piece) {
      pieces += (id == 0 ? "{\"" : ", \"") + piece + "\": " + std::to_string(id);
      ++id;
    };
    int other = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool itself = (byte >= 33 && byte < 127) || (byte > 160 && byte != 173);
      add(fmt::format("\\u{:04x}", itself ? byte : other++));
    }
    for (const char* piece : {"th", "the", "\\u0120the", "\\u0120t"}) add(piece);
    add(special);
    json = pieces + "}";
    merges = "#version: 0.2\nt h\nth e\n\u0120 t\n\u0120 the\n";
  }
  std::vector<ImportedFile> files() const { return {{"e.json", json}, {"m.txt", merges}}; }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

TEST(Import, BertVocabularyLowerCasesWhereThereAreNoCapitals) {
  const std::vector<ImportedFile> files = {{"vocab.txt", kVocabTxt}};
  const auto uncased = import_tokenizer(files, {});
  EXPECT_EQ(uncased->kind(), TokenizerKind::kWordpiece);
  EXPECT_EQ(uncased->encode("The dogs"), (std::vector<int32_t>{4, 6, 5}));
  EXPECT_EQ(uncased->special(), (SpecialTokens{1, 2, 3, -1}));
  EXPECT_EQ(import_tokenizer(files, {.lowercase = false})->encode("The dogs"),
            (std::vector<int32_t>{1, 6, 5}));
  const auto cased = import_tokenizer(std::vector<ImportedFile>{{"v", kVocabTxt + "The\r\n"}}, {});
  EXPECT_EQ(cased->encode("The the"), (std::vector<int32_t>{7, 4}));
}

TEST(Import, Gpt2VocabularyInEitherOrder) {
  const Gpt2Files made;
  std::vector<ImportedFile> files = made.files();
  const auto tokenizer = import_tokenizer(files, {});
  EXPECT_EQ(tokenizer->kind(), TokenizerKind::kByteBpe);
  EXPECT_EQ(tokenizer->size(), 261u);
  EXPECT_EQ(tokenizer->special(), (SpecialTokens{-1, 260, 260, -1}));
  EXPECT_EQ(tokenizer->encode("the the"), (std::vector<int32_t>{257, 258}));
  EXPECT_EQ(tokenizer->piece(258), "▁the");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("x\ny <|endoftext|>")), "x\ny <|endoftext|>");
  EXPECT_EQ(tokenizer->decode(std::vector<int32_t>{260, 257, 260}), "the");
  std::swap(files[0], files[1]);
  EXPECT_EQ(import_tokenizer(files, {})->serialized(), tokenizer->serialized());
  EXPECT_EQ(parse_tokenizer(tokenizer->serialized(), "t")->encode("the the"),
            tokenizer->encode("the the"));
}

TEST(Import, SpecialTokensAreFoundByName) {
  const Gpt2Files made(
      "<s>\": 260, \"</s>\": 261, \"<mask>\": 262, \"<pad>\": 263, \"<unk>\": 264, \"<|x|>");
  const std::string json = replaced(made.json, "\"<|x|>\": 260", "\"<|x|>\": 265");
  const auto tokenizer = import_byte_bpe({"e.json", json}, {"m.txt", made.merges}, false);
  EXPECT_EQ(tokenizer->special(), (SpecialTokens{264, 260, 261, 262}));
  EXPECT_EQ(tokenizer->decode(std::vector<int32_t>{263, 265, 257}), "the") << "nor is padding text";
}

TEST(Import, BadVocabTxtIsRefused) {
  const auto message = [](const std::string& text) { return import_message({{"v.txt", text}}); };
  EXPECT_NE(message("").find("v.txt is empty"), std::string::npos);
  EXPECT_NE(message(kVocabTxt + "the\n").find("v.txt:8: 'the' is there twice"), std::string::npos);
  EXPECT_NE(message(kVocabTxt + "\nx\n").find("v.txt:8: '' is not a piece"), std::string::npos);
  EXPECT_NE(message(kVocabTxt + "a b\n").find("'a b' is not a piece"), std::string::npos);
  EXPECT_NE(message("[UNK]\n[CLS]\nx\n").find("has [SEP], and this one does not"),
            std::string::npos);
}

TEST(Import, BadJsonIsRefused) {
  const Gpt2Files made;
  const auto message = [&](const std::string& json) {
    return import_message({{"e.json", json}, {"m.txt", made.merges}});
  };
  EXPECT_NE(message(made.json.substr(0, 2000)).find("e.json:1: "), std::string::npos);
  EXPECT_NE(message(made.json + "x").find("more follows the object"), std::string::npos);
  EXPECT_NE(message(replaced(made.json, ", ", " ")).find("no comma between"), std::string::npos);
  EXPECT_NE(message(replaced(made.json, ": 1,", ":, ")).find("no whole number"), std::string::npos);
  EXPECT_NE(message(replaced(made.json, ": 1,", ": -1,")).find("no whole number"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, ": 1,", ": 4294967296,")).find("no whole number"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, ": 1,", ": 4000000000,")).find("an id is too large"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, ": 1,", ": 2,")).find("must have the ids 0 to 260"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, "\"th\"", "\"the\"")).find("is there twice"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, "\"th\"", "\"\\x\"")).find("unknown escape"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, "\"th\"", "\"\\ud800\"")).find("half a character"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, "\"th\"", "\"\xff\"")).find("not UTF-8"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, "\"th\"", "\"\"")).find("a piece is empty"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, "\\u0061", "ab")).find("no piece for the byte 0x61"),
            std::string::npos);
  EXPECT_NE(message(replaced(made.json, "<|endoftext|>", "<end>")).find("neither <|endoftext|>"),
            std::string::npos);
}

TEST(Import, BadMergesAreRefused) {
  const Gpt2Files made;
  const auto message = [&](const std::string& merges) {
    return import_message({{"e.json", made.json}, {"m.txt", merges}});
  };
  EXPECT_NE(message(made.merges + "t\n").find("m.txt:6: 't' is not a merge"), std::string::npos);
  EXPECT_NE(message(made.merges + "a b c\n").find("is not a merge"), std::string::npos);
  EXPECT_NE(message(made.merges + "a b\n").find("e.json has no piece 'ab'"), std::string::npos);
  EXPECT_NE(message(made.merges + "t h\n").find("merge 5 is there twice"), std::string::npos);
}

TEST(Import, OtherFilesAreRefused) {
  const Gpt2Files made;
  const std::vector<ImportedFile> all = made.files();
  EXPECT_NE(import_message({all[0]}).find("give one vocab.txt"), std::string::npos);
  EXPECT_NE(import_message({all[0], all[0]}).find("give one vocab.txt"), std::string::npos);
  EXPECT_NE(import_message({all[1], all[1]}).find("give one vocab.txt"), std::string::npos);
  EXPECT_NE(import_message({}).find("give one vocab.txt"), std::string::npos);
}

}  // namespace
}  // namespace attend
