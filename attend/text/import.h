// Vocabularies of other programs: BERT's vocab.txt, and encoder.json (vocab.json) with vocab.bpe
// (merges.txt), as GPT-2 and its like have them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attend/text/tokenizer.h"

namespace attend {

inline constexpr size_t kMostImportedBytes = size_t{64} << 20;  // of a file, at most

struct ImportedFile {
  std::string name;     // for messages
  std::string content;  // at most kMostImportedBytes
};

struct ImportOptions {
  // Whether text is lower-cased first, with accents stripped. Without it: WordPiece lower-cases
  // where no piece has a letter A to Z, byte-level BPE never does.
  std::optional<bool> lowercase;
};

// One file is a vocab.txt; two are the pieces and the merges, in any order. Checks them whole;
// throws FormatError that says what is wrong, and ConfigError for another number of files.
std::shared_ptr<const Tokenizer> import_tokenizer(std::span<const ImportedFile> files,
                                                  const ImportOptions& options);

// A line for each piece, in the order of their ids.
std::shared_ptr<const Tokenizer> import_wordpiece(const ImportedFile& vocabulary,
                                                  std::optional<bool> lowercase);
// A JSON object with the id of each piece, and a text with the pieces of a merge in each line. A
// piece that is neither a byte nor made by a merge stands for no text: <|endoftext|>, or <s> and
// </s>, are the start and the end; <mask> and <unk> are what they say.
std::shared_ptr<const Tokenizer> import_byte_bpe(const ImportedFile& pieces,
                                                 const ImportedFile& merges, bool lowercase);

}  // namespace attend
