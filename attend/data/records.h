// Texts that belong together, a record for each line: the same line of several files, or columns of
// one file with tabs between them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/lines.h"

namespace attend {

// A column of records, and where its text is.
struct TextColumn {
  std::string name;
  std::filesystem::path file;
  size_t place = 0;  // among the columns of the file, from 1; 0: the whole line
  bool may_be_empty = false;

  bool operator==(const TextColumn&) const = default;
};

// Two columns in a file each; or both in the first file, where the second is not given.
std::vector<TextColumn> two_columns(std::string first, std::string second,
                                    const std::filesystem::path& first_file,
                                    const std::filesystem::path& second_file);

enum class TextPart { kAll, kKept, kHeldOut };

// Text that is held out is never trained on: a share of the records, chosen at random by the text
// of their first column, so that those that have it in common stay together.
struct HeldOut {
  double share = 0;  // from 0 to 1
  TextPart part = TextPart::kAll;

  bool operator==(const HeldOut&) const = default;
};

struct RecordCounts {
  LineCounts text;        // of all files
  uint64_t records = 0;   // that were given
  uint64_t empty = 0;     // left out: nothing but white space in a column
  uint64_t too_long = 0;  // left out: a line over the limit in a column

  bool operator==(const RecordCounts&) const = default;
};

class RecordReader {
 public:
  // A file that several columns name is read once.
  explicit RecordReader(std::vector<TextColumn> columns, size_t longest = kLongestLine,
                        HeldOut held_out = {});

  // Goes to the next record that is whole; false at the end. Throws DataError, with both counts,
  // for files of unequal numbers of lines, and with the line for one that lacks a column.
  bool next();

  std::string_view text(size_t column) const { return texts_[column]; }  // until next()
  size_t line() const { return files_.front()->number(); }               // from 1
  RecordCounts counts() const;
  const std::vector<TextColumn>& columns() const { return columns_; }

 private:
  bool next_lines();
  bool any_too_long() const;
  bool has_gaps() const;
  bool wanted() const;
  void split();
  std::string_view part(const LineReader& file, size_t place) const;
  [[noreturn]] void fail_unequal();

  std::vector<TextColumn> columns_;
  HeldOut held_out_;
  std::vector<std::unique_ptr<LineReader>> files_;
  std::vector<size_t> file_of_;  // of each column
  std::vector<std::string_view> texts_;
  RecordCounts counts_;
};

}  // namespace attend
