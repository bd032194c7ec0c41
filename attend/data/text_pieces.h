// Documents cut into pieces for models that read both ways: each token is in one piece, and nothing
// is read twice.
//
//   document  a b c d e f g      longest 3
//   pieces    a b c | d e f | g
//
// Or into pairs of lines that follow one another, without their ends, for models that tell whether
// they do. Blank lines between them are passed over.
#pragma once

#include <string>
#include <vector>

#include "attend/data/corpus_build.h"
#include "attend/data/documents.h"

namespace attend {

struct PieceConfig {
  size_t longest = 128;  // tokens of a piece, or of both lines of a pair, without starts and ends
};

// The pieces of some files as records of one column, or of two.
class TextPieces : public RecordSource {
 public:
  // Throws ConfigError if a piece could not have a token.
  TextPieces(std::vector<std::string> columns, DocumentFiles files, TextEncoder encoder,
             PieceConfig config);

  std::unique_ptr<RecordStream> open() const override;
  uint64_t fingerprint() const override;
  std::string explain_empty(const CorpusCounts& counts) const override;

 private:
  std::vector<std::string> columns_;
  DocumentFiles files_;
  TextEncoder encoder_;
  PieceConfig config_;
};

}  // namespace attend
