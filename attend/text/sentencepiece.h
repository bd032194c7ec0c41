// Subwords by SentencePiece (Kudo and Richardson, 2018). The file is SentencePiece's own .model
// with <unk>, <s> and </s> as its ids 0, 1 and 2, as spm_train makes it by default.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attend/text/tokenizer.h"

namespace attend {

// The largest models that are in use have 18 MB.
inline constexpr size_t kMostSentencePieceBytes = size_t{32} << 20;

std::shared_ptr<const Tokenizer> parse_sentencepiece(std::string_view model,
                                                     const std::string& name);
std::shared_ptr<const Tokenizer> train_sentencepiece(const TokenizerConfig& config,
                                                     const LineSource& lines);

// SentencePiece trusts its file: an index out of range would be read as it is. This looks through
// all of it first, and throws FormatError.
TokenizerKind check_sentencepiece_model(std::string_view model, const std::string& name);

// The same model without samples of text that the library would encode and print as it loads them.
std::string without_self_test(std::string_view model);

}  // namespace attend
