// Text files as the commands read them: every line counts, also an empty one.
#pragma once

#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/data/lines.h"

namespace attend::cli {

// Lines as they come, at most so many: those that are there already go together, and nothing waits
// for more. None at the end. A line that cannot be used is a DataError, once those before it were
// given out.
std::vector<std::string> read_window(LineReader& reader, size_t most);

// All lines of a file; DataError if it has none.
std::vector<std::string> read_lines(const std::filesystem::path& file);

struct LinePairs {
  std::vector<std::string> sources, targets;
};

// The same lines of two files, or without a second one, two columns with a tab between them.
class PairedLines {
 public:
  PairedLines(const std::filesystem::path& source, const std::filesystem::path& target);

  // Throws DataError where one file has more lines, or a line no second column, once the pairs
  // before were given out.
  LinePairs read_window(size_t most);

  const std::string& source_name() const { return source_.name(); }
  const std::string& target_name() const { return target_ ? target_->name() : source_.name(); }

 private:
  void split(LinePairs& pairs, size_t first);
  void add_targets(LinePairs& pairs);
  [[noreturn]] void fail_unequal();

  LineReader source_;
  std::unique_ptr<LineReader> target_;
  std::exception_ptr failed_;  // what follows the pairs that were given out
};

LinePairs read_pairs(const std::filesystem::path& source, const std::filesystem::path& target);

}  // namespace attend::cli
