// Records from lines: a text or a label for each column.
#pragma once

#include <optional>
#include <span>

#include "attend/data/corpus_build.h"

namespace attend {

// A column: its text, its encoder and its limit.
struct LineColumn {
  TextColumn text;
  TextEncoder encoder;
  ColumnKind kind = ColumnKind::kTokens;
  size_t longest = 512;   // tokens; records with more are left out
  bool by_words = false;  // each word by itself (data/words.h), with a column that tells their ends
};

// Record i has line i of each column. Records with a blank or too long line are left out. Where a
// column is read by words, labels must be as many as its words.
class LineRecords : public RecordSource {
 public:
  explicit LineRecords(std::vector<LineColumn> columns, size_t longest_line = kLongestLine)
      : columns_(std::move(columns)), longest_line_(longest_line) {}

  // The most tokens of all columns together; records with more are left out.
  std::optional<size_t> longest_together;
  HeldOut held_out;

  // Reading throws DataError, which names the line, for a label of several tokens, a number that is
  // none, and labels of other words than there are.
  std::unique_ptr<RecordStream> open() const override;
  uint64_t fingerprint() const override;
  std::string explain_empty(const CorpusCounts& counts) const override;

 private:
  std::vector<LineColumn> columns_;
  size_t longest_line_;
};

}  // namespace attend
