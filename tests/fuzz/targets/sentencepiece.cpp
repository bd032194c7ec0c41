// SentencePiece models, which the library of that name trusts: our check of them comes first.
#include "attend/text/sentencepiece.h"

#include <fmt/format.h>

#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"
#include "tests/fuzz/use_tokenizer.h"
#include "tests/hostile/sentencepiece_model.h"

namespace attend::fuzz {

void take_sentencepiece(std::string_view bytes) {
  use(*parse_sentencepiece(bytes, "tokenizer.model"));
}

namespace {

using hostile::CharacterMapMaker;

// One text for a ligature of three bytes, and one for "ä", three bytes further on.
std::string character_map(std::string_view texts) {
  CharacterMapMaker maker;
  const auto add = [&](std::string_view key, uint32_t place) {
    uint32_t node = CharacterMapMaker::kRoot, before = node;
    for (const char c : key) {
      before = node;
      node = maker.link(before, static_cast<unsigned char>(c));
    }
    maker.end(before, static_cast<unsigned char>(key.back()), node, place);
  };
  add("\xEF\xAC\x81", 0);
  add("\xC3\xA4", 3);
  return maker.map(texts);
}

// A trained model has a map of 240 KB; this is as small as one can be.
std::string small_model(uint64_t type, const std::string& normalizer) {
  std::string pieces = hostile::piece("a b", -3, hostile::kUserDefined);
  float score = 0;
  for (const char* text :
       {"\u2581", "\u2581a", "a", "b", "c", "ab", "the", "\u2581the", "ß", "猫"}) {
    pieces += hostile::piece(text, score -= 1);
  }
  for (int byte = 0; byte < 256 && type == 2; ++byte) {
    pieces += hostile::piece(fmt::format("<0x{:02X}>", byte), 0, hostile::kByte);
  }
  return hostile::special_pieces() + pieces +
         hostile::bytes_field(2, hostile::number_field(3, type) + hostile::number_field(35, 1)) +
         hostile::bytes_field(3, normalizer);
}

}  // namespace

std::vector<std::string> sentencepiece_seeds() {
  const std::string plain = hostile::number_field(3, 1) + hostile::number_field(5, 1);
  const std::string mapped =
      plain + hostile::bytes_field(2, character_map(std::string_view("fi\0ae\0", 6)));
  const std::string growing =
      hostile::bytes_field(2, character_map("fi " + std::string(100, 'x') + '\0'));
  return {small_model(1, plain), small_model(2, plain), small_model(1, mapped),
          small_model(2, mapped) + hostile::bytes_field(5, mapped), small_model(1, growing)};
}

}  // namespace attend::fuzz
