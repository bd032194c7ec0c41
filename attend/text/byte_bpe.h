// Byte-level BPE, to the id as GPT-2 has it (Radford et al., 2019): words as byte_words.h finds
// them, each split into bytes, which are merged by rank. The ids of any text, also of one that is
// not valid UTF-8, give it back. Not for use outside text/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/pair_merges.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct ByteBpeVocabulary {
  bool lowercase = false;
  std::vector<std::string> pieces;   // bytes, by id; among them all 256 single ones
  std::vector<PairMerge> merges;     // in the order of their ranks, no pair twice
  SpecialTokens special;             // neither a byte nor made by a merge
  std::vector<int32_t> others = {};  // more ids that stand for no text; sentinels by their names
};
std::shared_ptr<const Tokenizer> make_byte_bpe(ByteBpeVocabulary vocabulary);

// Completes a vocabulary that has everything but `made` in its merges. Throws DataError that says
// which merge makes no piece, or which byte is missing.
void check_byte_bpe(ByteBpeVocabulary& vocabulary);

// Learns merges: the most frequent pair first. Words over 256 bytes are not learned from.
std::shared_ptr<const Tokenizer> train_byte_bpe(const TokenizerConfig& config,
                                                const LineSource& lines);

}  // namespace attend
