// WordPiece (Schuster and Nakajima, 2012), to the id as BERT has it (Devlin et al., 2019): words as
// basic_words.h finds them, each split from its start into the longest pieces of the vocabulary; a
// piece inside a word begins with "##". Not for use outside text/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

// The names of the special tokens. A vocabulary has the first three, wherever it likes.
inline constexpr std::string_view kWordpieceSpecial[] = {"[UNK]", "[CLS]", "[SEP]", "[MASK]"};
inline constexpr std::string_view kWordpiecePadding = "[PAD]";

// Whether a text can be a piece: UTF-8 without white space, no longer than a word may be.
bool is_wordpiece(std::string_view text);

// Pieces by id, all different. Throws DataError that says what is missing.
std::shared_ptr<const Tokenizer> make_wordpiece(bool lowercase, std::vector<std::string> pieces);

// Learns a vocabulary: all characters, then pieces joined of two others, the most frequent pair
// first. Words that are longer than BERT's limit are not learned from.
std::shared_ptr<const Tokenizer> train_wordpiece(const TokenizerConfig& config,
                                                 const LineSource& lines);

}  // namespace attend
