// Records from lines: a text or a label for each column.
#pragma once

#include <optional>
#include <span>

#include "attend/data/corpus_build.h"

namespace attend {

// A column, where its text is, and what becomes of it.
struct LineColumn {
  TextColumn text;
  TextEncoder encoder;
  ColumnKind kind = ColumnKind::kTokens;
  size_t longest = 512;  // tokens; records with more are left out
};

class LineRecords : public RecordSource {
 public:
  explicit LineRecords(std::vector<LineColumn> columns, size_t longest_line = kLongestLine)
      : columns_(std::move(columns)), longest_line_(longest_line) {}

  // Tokens of all columns together; records with more are left out.
  std::optional<size_t> longest_together;
  HeldOut held_out;

  // A label of several tokens is a DataError that names its line.
  std::unique_ptr<RecordStream> open() const override;
  uint64_t fingerprint() const override;
  std::string explain_empty(const CorpusCounts& counts) const override;

 private:
  std::vector<LineColumn> columns_;
  size_t longest_line_;
};

}  // namespace attend
