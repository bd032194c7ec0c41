// Subwords by SentencePiece (Kudo and Richardson, 2018). The file is SentencePiece's .model, with
// <unk>, <s> and </s> as ids 0, 1 and 2, the default of spm_train. A control symbol <mask> with id
// 3 is the mask: spm_train --control_symbols='<mask>'; control symbols <extra_id_0>, <extra_id_1>
// and so on that follow are sentinels.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attend/text/tokenizer.h"

namespace attend {

// The largest file that is read, in bytes; the largest models in use have 18 MB.
inline constexpr size_t kMostSentencePieceBytes = size_t{32} << 20;

// From the contents of a file; `name` is for messages. Throws FormatError.
std::shared_ptr<const Tokenizer> parse_sentencepiece(std::string_view model,
                                                     const std::string& name);
// Trains a model of the kind in the config. Throws ConfigError where SentencePiece cannot.
std::shared_ptr<const Tokenizer> train_sentencepiece(const TokenizerConfig& config,
                                                     const LineSource& lines);

// SentencePiece trusts its file, even an index out of range. This checks the whole file first.
// Throws FormatError.
TokenizerKind check_sentencepiece_model(std::string_view model, const std::string& name);

// The same model without its self-test samples, which the library would encode and print while
// loading.
std::string without_self_test(std::string_view model);

}  // namespace attend
