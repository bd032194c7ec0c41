// Vocabularies of Attend's own, and those of other programs that it imports.
#include "attend/base/files.h"
#include "attend/text/import.h"
#include "attend/text/tokenizer.h"
#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

const Reader kVocabulary{
    .file = "words.txt",
    .open = [](const Path& directory) { load_tokenizer(directory / "words.txt"); },
    .arguments = {"tokenizer", "encode", "@/words.txt", "--input", "@/empty.txt"}};

const Reader kVocabTxt{
    .file = "vocab.txt",
    .open =
        [](const Path& directory) {
          import_wordpiece({"vocab.txt", file_contents(directory / "vocab.txt")}, {});
        },
    .arguments = {"tokenizer", "import", "@/vocab.txt", "--out", "/dev/null"}};

const Reader kEncoderJson{.file = "encoder.json",
                          .open =
                              [](const Path& directory) {
                                import_byte_bpe(
                                    {"encoder.json", file_contents(directory / "encoder.json")},
                                    {"vocab.bpe", "t h\n"}, false);
                              },
                          .arguments = {}};

std::string vocabulary(const std::string& header, const std::string& pieces) {
  return "attend tokenizer " + header + "\n<unk>\n<s>\n</s>\n" + pieces;
}

}  // namespace

std::vector<Case> vocabulary_cases() {
  return {
      {"vocabulary-empty", &kVocabulary, [] { return ""; }, "is empty"},
      {"vocabulary-one-long-line", &kVocabulary,
       [] { return "attend tokenizer 1 word " + std::string(6'000'000, '9'); },
       "words.txt:1: the line is over 4194304 bytes"},
      {"vocabulary-announces-10-to-18", &kVocabulary,
       [] { return vocabulary("1 word 1000000000000000000", "a\n"); },
       "1000000000000000000 tokens are announced; at most 16777216"},
      {"vocabulary-announces-more", &kVocabulary,
       [] { return vocabulary("1 word 16000000", "a\n"); },
       "16000000 tokens are announced and 4 whole lines follow"},
      {"vocabulary-announces-less", &kVocabulary,
       [] { return vocabulary("1 word 4", "a\n" + repeated("b\n", 3'000'000)); },
       "words.txt:5: 4 tokens are announced, and more follow"},
      {"vocabulary-negative", &kVocabulary, [] { return vocabulary("1 word -4", "a\n"); },
       "'-4' is no number of tokens"},
      {"vocabulary-twice", &kVocabulary, [] { return vocabulary("1 word 5", "a\na\n"); },
       "words.txt:6: 'a' is there twice"},
      {"vocabulary-twice-by-escape", &kVocabulary,
       [] { return vocabulary("1 word 5", "a\n\\x61\n"); }, "words.txt:6: '\\x61' is there twice"},
      {"vocabulary-half-an-escape", &kVocabulary, [] { return vocabulary("1 word 4", "a\\x6\n"); },
       "'a\\x6' is not a word"},
      {"vocabulary-long-piece", &kVocabulary,
       [] { return vocabulary("1 word 4", std::string(6'000'000, 'p') + "\n"); },
       "words.txt:5: the line is over 4194304 bytes"},
      {"vocabulary-long-character", &kVocabulary,
       [] { return vocabulary("1 character 4", std::string(3'000'000, 'p') + "\n"); },
       "'" + std::string(60, 'p') + "...' is not a character"},
      {"vocabulary-not-utf-8", &kVocabulary, [] { return vocabulary("1 word 4", "\xff\xfe\n"); },
       "'\\xff\\xfe' is not a word"},
      {"vocabulary-escape-in-version", &kVocabulary,
       [] { return vocabulary("\x1b[2J word 4", "a\n"); }, "is version '\\x1b[2J'"},
      {"vocabulary-escape-in-kind", &kVocabulary, [] { return vocabulary("1 \x1b[2J 4", "a\n"); },
       "'\\x1b[2J' is not one of character, word, line, byte, wordpiece, byte_bpe"},
      {"vocabulary-without-special-tokens", &kVocabulary,
       [] { return "attend tokenizer 1 word 3\n"; }, "the first tokens must be <unk>, <s>, </s>"},
      {"vocabulary-cut-off", &kVocabulary, [] { return vocabulary("1 word 5", "a\nb"); },
       "words.txt:6: the line is cut off"},
      {"vocabulary-of-300-bytes", &kVocabulary, [] { return "attend tokenizer 1 byte 300\n"; },
       "a byte tokenizer has 259 tokens"},
      {"wordpiece-announces-more", &kVocabulary,
       [] { return "attend tokenizer 1 wordpiece 16000000\n[UNK]\n[CLS]\n[SEP]\n"; },
       "16000000 tokens are announced and 3 whole lines follow"},
      {"wordpiece-without-special-tokens", &kVocabulary,
       [] { return "attend tokenizer 1 wordpiece 1\na\n"; }, "has [UNK], and this one does not"},
      {"byte-bpe-announces-more", &kVocabulary,
       [] { return "attend tokenizer 1 byte_bpe 16000000\nmerges 16000000 special 0 1 2 3\na\n"; },
       "the line is cut off"},
      {"byte-bpe-special-outside", &kVocabulary,
       [] { return "attend tokenizer 1 byte_bpe 5\nmerges 0 special 0 1 2 5\na\n"; },
       "5 is no id of 5 tokens"},
      {"byte-bpe-many-merges", &kVocabulary,
       [] {
         return "attend tokenizer 1 byte_bpe 2\nmerges 99999999999999999999 special 0 0 0 0\n";
       },
       "is no number of tokens"},
      {"vocab-txt-escapes", &kVocabTxt, [] { return "\x1b[2J \x1b[2J\n"; },
       "'\\x1b[2J \\x1b[2J' is not a piece of a word"},
      {"vocab-txt-one-long-line", &kVocabTxt, [] { return std::string(6'000'000, 'a'); },
       "is not a piece of a word"},
      {"vocab-txt-of-zeros", &kVocabTxt, [] { return std::string(1 << 20, '\0'); },
       "is not a piece of a word"},
      {"encoder-json-cut-off", &kEncoderJson, [] { return "{\"a\": 0, \"b"; },
       "the file is cut off"},
      {"encoder-json-long-piece", &kEncoderJson,
       [] { return "{\"" + std::string(6'000'000, 'a') + "\": 0}"; }, "a piece is over 4096 bytes"},
      {"encoder-json-large-id", &kEncoderJson, [] { return "{\"a\": 4000000000}"; },
       "an id is too large"},
      {"encoder-json-far-id", &kEncoderJson, [] { return "{\"a\": 0, \"b\": 16000000}"; },
       "must have the ids 0 to 1, each once"},
      {"encoder-json-nested", &kEncoderJson,
       [] { return "{\"a\": " + std::string(1'000'000, '[') + "}"; }, "an id is no whole number"},
      {"encoder-json-of-spaces", &kEncoderJson, [] { return "{" + std::string(3'000'000, ' '); },
       "the file is cut off"},
  };
}

}  // namespace attend::hostile
