// SentencePiece models, which the library of that name trusts: our check of them comes first.
#include "attend/text/sentencepiece.h"

#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"
#include "tests/fuzz/use_tokenizer.h"

namespace attend::fuzz {

void take_sentencepiece(std::string_view bytes) {
  use(*parse_sentencepiece(bytes, "tokenizer.model"));
}

std::vector<std::string> sentencepiece_seeds() {
  std::vector<std::string> seeds;
  for (const TokenizerKind kind : {TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    for (const bool bytes : {false, true}) {
      const TokenizerConfig config{
          .kind = kind, .vocabulary = bytes ? size_t{340} : size_t{60}, .byte_fallback = bytes};
      seeds.push_back(train_tokenizer(config, sample_lines())->serialized());
    }
  }
  return seeds;
}

}  // namespace attend::fuzz
