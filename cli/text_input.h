// Text files as the commands read them: every line counts, also an empty one.
#pragma once

#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/data/lines.h"

namespace attend::cli {

// Goes to the next line; DataError where it cannot be used, since leaving it out would move those
// after it.
bool next_whole(LineReader& reader);

// Lines as they come, at most so many: those that are there already go together, and nothing waits
// for more. None at the end. A line that cannot be used is a DataError, once those before it were
// given out.
std::vector<std::string> read_window(LineReader& reader, size_t most);

// What a command reads line by line: it refuses a line that is too long, and reads no further. At a
// terminal, says what is expected there, unless that is nothing.
LineReader open_text(const std::filesystem::path& file, std::string_view expected = "line by line");

// Lines of a file that can be read twice; none for a pipe or standard input.
std::optional<size_t> count_lines(const std::filesystem::path& file);

// How much text a command that needs all of a file at once takes in: what gzip makes of a small
// file may be larger than any memory.
inline constexpr size_t kMostText = size_t{256} << 20;  // bytes, each line with 32 more

// All lines of a file; DataError if it has none, or more than `most` bytes.
std::vector<std::string> read_lines(const std::filesystem::path& file, size_t most = kMostText);

// All of a file as one text, line ends included, as training reads a file; perhaps empty. DataError
// if it has more than `most` bytes.
std::string read_document(const std::filesystem::path& file, size_t most = kMostText);

// A text from elsewhere, repaired as a line of a file is; `name` begins the note that says so.
std::string repaired(std::string_view text, std::string_view name);

// Says on standard error what was repaired or left out, if anything.
void tell_repairs(const LineCounts& counts, std::string_view name);

// What two columns are called, and the option that names a file of the second.
struct PairNames {
  std::string_view first = "source", second = "target", option = "--target";
};

struct LinePairs {
  std::vector<std::string> sources, targets;
};

// The same lines of two files, or without a second one, two columns with a tab between them.
class PairedLines {
 public:
  PairedLines(const std::filesystem::path& source, const std::filesystem::path& target,
              PairNames names = {});

  // Throws DataError where one file has more lines, or a line no second column, once the pairs
  // before were given out.
  LinePairs read_window(size_t most);

  const std::string& source_name() const { return source_.name(); }
  const std::string& target_name() const { return target_ ? target_->name() : source_.name(); }

 private:
  void split(LinePairs& pairs, size_t first);
  void add_targets(LinePairs& pairs);
  [[noreturn]] void fail_unequal();

  PairNames names_;
  LineReader source_;
  std::unique_ptr<LineReader> target_;
  std::exception_ptr failed_;  // what follows the pairs that were given out
};

// All pairs, under the limit of read_lines().
LinePairs read_pairs(const std::filesystem::path& source, const std::filesystem::path& target,
                     PairNames names = {}, size_t most = kMostText);

}  // namespace attend::cli
