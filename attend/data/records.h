// Texts that belong together, one record per line: the same line of several files, or tab-separated
// columns of one file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/lines.h"

namespace attend {

// A column of records, and where to read it.
struct TextColumn {
  std::string name;
  std::filesystem::path file;
  size_t place = 0;  // among the columns of the file, from 1; 0: the whole line
  bool may_be_empty = false;

  bool operator==(const TextColumn&) const = default;
};

// Two columns, one per file, or both in the first file if the second is empty.
std::vector<TextColumn> two_columns(std::string first, std::string second,
                                    const std::filesystem::path& first_file,
                                    const std::filesystem::path& second_file);

// Which part of a text is read: all of it, what is trained on, or what is held out.
enum class TextPart { kAll, kKept, kHeldOut };

// Held-out text is never trained on: a share of the records, chosen at random by the text of their
// first column, so that records with the same text stay together.
struct HeldOut {
  double share = 0;  // from 0 to 1
  TextPart part = TextPart::kAll;

  bool operator==(const HeldOut&) const = default;
};

// What was read, and what was left out.
struct RecordCounts {
  LineCounts text;        // of all files
  uint64_t records = 0;   // returned
  uint64_t empty = 0;     // left out: nothing but white space in a column
  uint64_t too_long = 0;  // left out: a line over the limit in a column

  RecordCounts& operator+=(const RecordCounts& other);  // adds those of another corpus
  bool operator==(const RecordCounts&) const = default;
};

// Reads records in order.
class RecordReader {
 public:
  // Opens the files; one that several columns name is read once. Throws IoError.
  explicit RecordReader(std::vector<TextColumn> columns, size_t longest = kLongestLine,
                        HeldOut held_out = {});

  // Goes to the next complete record; false at the end. Throws DataError for files with different
  // numbers of lines, and for a line that lacks a column.
  bool next();

  std::string_view text(size_t column) const { return texts_[column]; }  // until next()
  size_t line() const { return files_.front()->number(); }  // of the first file, from 1
  // FILE:LINE of a column, for messages about the record that is at `line` of the first file. Files
  // differ where some of them begin with the names of their columns.
  std::string place_of(size_t column, size_t line) const;
  // Of the records so far, and the columns as given.
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

// The columns of each of several corpora, whose records follow one another. All have the same
// columns.
using TextCorpora = std::vector<std::vector<TextColumn>>;

// Reads the records of several corpora in order.
class CorporaReader {
 public:
  // The files of a corpus are opened when its turn comes. Throws ConfigError if there is none.
  explicit CorporaReader(TextCorpora corpora, size_t longest = kLongestLine, HeldOut held_out = {});

  bool next();  // as RecordReader's; false at the end of the last corpus
  std::string_view text(size_t column) const { return reader_->text(column); }  // until next()
  size_t corpus() const { return corpus_; }                                     // of this record

 private:
  TextCorpora corpora_;
  size_t longest_;
  HeldOut held_out_;
  size_t corpus_ = 0;
  std::optional<RecordReader> reader_;
};

}  // namespace attend
