// Text files, line by line. Text that is not valid UTF-8 is repaired, and repairs are counted; see
// docs/data.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/bytes.h"

namespace attend {

// The longest line that is read unless set otherwise, in bytes.
inline constexpr size_t kLongestLine = size_t{1} << 20;

// Lines read, and repairs.
struct LineCounts {
  uint64_t lines = 0;
  uint64_t invalid_utf8 = 0;      // pieces replaced by U+FFFD
  uint64_t nul_bytes = 0;         // removed
  uint64_t carriage_returns = 0;  // removed from the ends of lines, where those are not kept
  uint64_t byte_order_marks = 0;  // removed from the start of a file
  uint64_t too_long = 0;          // lines that were left out

  LineCounts& operator+=(const LineCounts& other);  // adds those of another file
  bool operator==(const LineCounts&) const = default;
};

// What follows a line that is too long: the next line, or the end of reading. Skipping can take
// long: a few bytes of gzip may hold a line of terabytes.
enum class LongLines { kPassOver, kEndThere };

// Whether lines keep their ends, "
// " or "\r
// ". The last line may have none.
enum class LineEnds { kRemoved, kKept };

// A column of a file, as a person names it: FILE:2, or FILE:NAME where the first line has the names
// of the columns; tabs are between columns. Where there is a file of the whole name it is that.
struct FileColumn {
  std::filesystem::path file;
  size_t place = 0;       // from 1; 0: the whole line, or the column of that name
  std::string name = {};  // empty: there is no line of names
};
FileColumn file_column(const std::filesystem::path& path);
// FILE:LINE for messages, of the n-th line of text, from 1: that of the names comes before it.
std::string place_of_line(const std::filesystem::path& path, size_t n);

// Reads lines, or a column of them. Not for use by several threads at once.
class LineReader {
 public:
  // "-" is standard input; gzip is recognised by its first bytes. FILE:2 and FILE:NAME are columns
  // (file_column()). Throws IoError, and DataError for a name that the first line does not have.
  explicit LineReader(const std::filesystem::path& path, size_t longest = kLongestLine,
                      LongLines long_lines = LongLines::kPassOver,
                      LineEnds ends = LineEnds::kRemoved);

  // Goes to the next line; false at the end. Memory is bounded by `longest`, however long a line
  // is. Throws DataError for a line that has text, but not the column.
  bool next();

  std::string_view line() const { return line_; }  // until next(); empty if it was too long
  bool too_long() const { return too_long_; }      // whether this line was left out
  size_t number() const { return counts_.lines; }  // of this line, from 1
  // Lines of text so far: all but that of the names.
  size_t lines_of_text() const { return counts_.lines - (named_ ? 1 : 0); }
  // Of the lines so far; and the path, or "standard input".
  const LineCounts& counts() const { return counts_; }
  const std::string& name() const { return name_; }

  // Whether next() gives a line at once, without waiting for a pipe.
  bool ready() const;

 private:
  bool fill();
  bool take_line();
  void clean();
  void find_column();
  std::string_view column_of(std::string_view line) const;
  void take_column();

  FileColumn column_;
  std::string name_;
  size_t longest_;
  LongLines long_lines_;
  LineEnds ends_;
  std::unique_ptr<ByteSource> bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // what is left in the buffer
  std::string joined_;          // a line from several buffers, or a repaired one
  std::string_view line_;
  bool too_long_ = false, named_ = false;
  LineCounts counts_;
};

}  // namespace attend
