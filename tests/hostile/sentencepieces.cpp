// SentencePiece models that its library would follow out of its arrays, in circles, or to texts of
// gigabytes.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "attend/text/tokenizer.h"
#include "tests/hostile/case.h"
#include "tests/hostile/sentencepiece_model.h"

namespace attend::hostile {
namespace {

const Reader kModel{.file = "spm.model",
                    .open = [](const Path& directory) { load_tokenizer(directory / "spm.model"); },
                    .arguments = {"tokenizer", "encode", "@/spm.model", "--input", "@/empty.txt"}};

std::string with_map(const std::string& map) {
  return unigram_model(piece("a"), bytes_field(2, map));
}

// Reads "a" as `text`.
std::string map_to(std::string text) {
  CharacterMapMaker maker;
  const uint32_t node = maker.link(CharacterMapMaker::kRoot, 'a');
  maker.end(CharacterMapMaker::kRoot, 'a', node, 0);
  return maker.map(text + '\0');
}

// "a" leads back to the root: any number of them is a key.
std::string circular_map() {
  CharacterMapMaker maker;
  maker.link(CharacterMapMaker::kRoot, 'a', CharacterMapMaker::kRoot);
  maker.end(CharacterMapMaker::kRoot, 'a', CharacterMapMaker::kRoot, 0);
  return maker.map(std::string_view("b\0", 2));
}

// "a", "aa", ... are all keys.
std::string nested_map(int depth) {
  CharacterMapMaker maker;
  uint32_t node = CharacterMapMaker::kRoot;
  for (int i = 0; i < depth; ++i) {
    const uint32_t next = maker.link(node, 'a');
    maker.end(node, 'a', next, 0);
    node = next;
  }
  return maker.map(std::string_view("b\0", 2));
}

std::string changed_map(size_t unit, uint32_t value) {
  CharacterMapMaker maker;
  maker.link(CharacterMapMaker::kRoot, 'a');
  maker.unit(unit) = value;
  return maker.map(std::string_view("b\0", 2));
}

std::string nested_symbols(size_t count) {
  std::string pieces;
  for (size_t i = 1; i <= count; ++i) pieces += piece(std::string(i, 'a'), 0, kUserDefined);
  return pieces;
}

std::vector<Case> map_cases() {
  return {
      {"spm-map-grows", &kModel, [] { return with_map(map_to(std::string(250'000, 'x'))); },
       "its character map makes a text grow without bound"},
      {"spm-map-grows-by-17", &kModel, [] { return with_map(map_to(std::string(17, 'x'))); },
       "its character map makes a text grow without bound"},
      {"spm-map-grows-by-spaces", &kModel, [] { return with_map(map_to(std::string(6, ' '))); },
       "its character map makes a text grow without bound"},
      {"spm-map-of-no-text", &kModel, [] { return with_map(map_to("\xff")); },
       "its character map makes a text grow without bound"},
      {"spm-map-in-circles", &kModel, [] { return with_map(circular_map()); },
       "the character map has no end"},
      {"spm-map-of-33-matches", &kModel, [] { return with_map(nested_map(33)); },
       "the character map has no end"},
      {"spm-map-of-long-keys", &kModel, [] { return with_map(nested_map(300)); },
       "the character map has no end"},
      {"spm-map-outside", &kModel,
       [] { return with_map(changed_map(256 + 'a', 'a' | 0x3FFFFF << 10)); },
       "the character map points outside"},
      {"spm-map-text-outside", &kModel, [] { return with_map(changed_map(700, 0x80000002)); },
       "the character map points outside"},
      {"spm-map-without-leaf", &kModel,
       [] { return with_map(changed_map(256 + 'a', 'a' | 256 | ((256 + 'a') ^ 512) << 10)); },
       "the character map lacks a leaf"},
      {"spm-map-cut-off", &kModel, [] { return with_map(map_to("b").substr(0, 2000)); },
       "the character map is cut off"},
      {"spm-map-of-2-mb", &kModel, [] { return with_map(map_to(std::string(2 << 20, 'x'))); },
       "the character map is over 1 MB"},
      {"spm-map-back-grows", &kModel,
       [] {
         return unigram_model(piece("a"), "",
                              bytes_field(5, bytes_field(2, map_to(std::string(99, 'x')))));
       },
       "its character map makes a text grow without bound"},
  };
}

std::vector<Case> piece_cases() {
  return {
      {"spm-piece-empty", &kModel, [] { return unigram_model(piece("")); }, "a piece is no text"},
      {"spm-piece-nul", &kModel, [] { return unigram_model(piece(std::string_view("a\0b", 3))); },
       "a piece is no text"},
      {"spm-piece-not-utf-8", &kModel, [] { return unigram_model(piece("\xc3")); },
       "a piece is no text"},
      {"spm-piece-long", &kModel, [] { return unigram_model(piece(std::string(3'000'000, 'a'))); },
       "a piece is over 512 bytes"},
      {"spm-escapes-twice", &kModel,
       [] { return unigram_model(piece("\x1b[2J") + piece("\x1b[2J")); },
       "\\x1b[2J is already defined"},
      {"spm-piece-twice", &kModel, [] { return unigram_model(piece("a") + piece("a")); },
       "train the tokenizer again"},
      {"spm-piece-nan", &kModel, [] { return unigram_model(piece("a", std::nanf(""))); },
       "a piece has an impossible score"},
      {"spm-piece-infinite", &kModel,
       [] { return unigram_model(piece("a", std::numeric_limits<float>::infinity())); },
       "a piece has an impossible score"},
      {"spm-piece-of-type-9", &kModel, [] { return unigram_model(piece("a", 0, 9)); },
       "a piece has an impossible type"},
      {"spm-two-unknowns", &kModel, [] { return unigram_model(piece("?", 0, kUnknownPiece)); },
       "train the tokenizer again"},
      {"spm-byte-without-fallback", &kModel,
       [] { return unigram_model(piece("<0x41>", 0, kByte)); }, "train the tokenizer again"},
      {"spm-symbols-in-symbols", &kModel, [] { return unigram_model(nested_symbols(65)); },
       "too many of its symbols begin with one another"},
      {"spm-a-million-pieces", &kModel,
       [] {
         std::string pieces;
         for (int i = 0; i < (1 << 20); ++i) pieces += bytes_field(1, bytes_field(1, "a"));
         return unigram_model(pieces);
       },
       "it has over a million pieces"},
      {"spm-no-special-tokens", &kModel,
       [] {
         return piece("a") + piece("b") + piece("c") + piece("<unk>", 0, kUnknownPiece) +
                bytes_field(2, number_field(3, 1)) + bytes_field(3, "");
       },
       "<unk>, <s> and </s> have the ids 3"},
  };
}

std::vector<Case> message_cases() {
  return {
      {"spm-cut-off", &kModel, [] { return unigram_model(piece("a")).substr(0, 20); },
       "it is cut off"},
      {"spm-33-mb", &kModel, [] { return unigram_model(piece("a")); }, "at most 33554432",
       33 << 20},
      {"spm-without-pieces", &kModel, [] { return bytes_field(2, "") + bytes_field(3, ""); },
       "there are no pieces"},
      {"spm-of-characters", &kModel,
       [] {
         return special_pieces() + piece("a") + bytes_field(2, number_field(3, 4)) +
                bytes_field(3, "");
       },
       "it holds characters or words"},
      {"spm-two-trainers", &kModel,
       [] { return unigram_model(piece("a"), "", bytes_field(2, number_field(3, 4))); },
       "a part is there twice"},
      {"spm-self-test", &kModel,
       [] {
         const std::string sample =
             bytes_field(1, repeated("a\x1b[2J", 200'000)) + bytes_field(2, "b");
         return unigram_model(piece("a"), "", bytes_field(4, bytes_field(1, sample)));
       },
       ""},
      {"spm-long-settings", &kModel,
       [] {
         return special_pieces() + piece("a") +
                bytes_field(2, bytes_field(1, std::string(3'000'000, 'a')));
       },
       "its settings are over 1 MB"},
      {"spm-groups", &kModel, [] { return repeated("\x0b", 1'000'000); },
       "a field has an impossible type"},
      {"spm-long-number", &kModel, [] { return std::string(100, '\xff'); }, "a number is too long"},
      {"spm-length-past-the-end", &kModel, [] { return "\x0a" + varint(uint64_t{1} << 62); },
       "it is cut off"},
      {"spm-of-zeros", &kModel, [] { return std::string(1 << 20, '\0'); }, "an impossible number"},
  };
}

}  // namespace

std::vector<Case> sentencepiece_cases() {
  std::vector<Case> all = map_cases();
  for (const auto& table : {piece_cases(), message_cases()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace attend::hostile
