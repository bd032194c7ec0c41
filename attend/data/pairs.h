// Pairs of texts that belong together: the same line of two files, or two columns of one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "attend/data/lines.h"

namespace attend {

struct PairFiles {
  std::filesystem::path source;
  std::filesystem::path target;  // empty: `source` has columns, with a tab between them
  size_t source_column = 1, target_column = 2;
};

struct PairCounts {
  LineCounts text;        // of both sides
  uint64_t pairs = 0;     // that were given
  uint64_t empty = 0;     // left out: nothing but white space on a side
  uint64_t too_long = 0;  // left out: a line over the limit on a side

  bool operator==(const PairCounts&) const = default;
};

class PairReader {
 public:
  explicit PairReader(PairFiles files, size_t longest = kLongestLine);

  // Goes to the next pair that is whole; false at the end. Throws DataError, with both counts, for
  // files of unequal numbers of lines, and with the line for one that lacks a column.
  bool next();

  std::string_view source() const { return source_text_; }  // until next()
  std::string_view target() const { return target_text_; }
  size_t line() const { return source_.number(); }  // from 1
  PairCounts counts() const;

 private:
  bool next_lines();
  std::string_view column(size_t number) const;
  [[noreturn]] void fail_unequal();

  PairFiles files_;
  LineReader source_;
  std::unique_ptr<LineReader> target_;  // none: columns
  std::string_view source_text_, target_text_;
  PairCounts counts_;
};

}  // namespace attend
