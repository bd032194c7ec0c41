// The files of all tokenizers that are not SentencePiece's.
#include "attend/text/vocabulary.h"

#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"
#include "tests/fuzz/use_tokenizer.h"

namespace attend::fuzz {

void take_vocabulary(std::string_view bytes) {
  // What does not begin so is taken for a SentencePiece model, which is another target.
  use(*parse_tokenizer(std::string(kVocabularyMagic) + std::string(bytes), "tokenizer.model"));
}

std::vector<std::string> vocabulary_seeds() {
  std::vector<std::string> seeds;
  for (const TokenizerKind kind : {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                   TokenizerKind::kLine, TokenizerKind::kByte}) {
    for (const bool lowercase : {false, true}) {
      const auto trained = train_tokenizer({.kind = kind, .lowercase = lowercase}, sample_lines());
      seeds.push_back(trained->serialized().substr(kVocabularyMagic.size()));
    }
  }
  for (const TokenizerKind kind : {TokenizerKind::kWordpiece, TokenizerKind::kByteBpe}) {
    for (const bool mask : {false, true}) {
      const auto trained = train_tokenizer(
          {.kind = kind, .vocabulary = 300, .lowercase = mask, .mask = mask}, sample_lines());
      seeds.push_back(trained->serialized().substr(kVocabularyMagic.size()));
    }
  }
  return seeds;
}

}  // namespace attend::fuzz
