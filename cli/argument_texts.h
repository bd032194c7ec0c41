// Texts that a command gets as arguments, or else as the lines of a file.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/lines.h"

namespace attend::cli {

// Throws CLI::ValidationError for arguments that are no texts of a command, beside a file, or with
// a line feed in them.
void check_argument_texts(std::string_view command, std::span<const std::string> texts,
                          const std::filesystem::path& file);

class ArgumentTexts {
 public:
  // Without texts, the lines of the file; without that, standard input, from which a person is
  // asked for `lines`: "one sentence a line".
  ArgumentTexts(std::span<const std::string> texts, const std::filesystem::path& file,
                std::string_view lines);

  // The next lines, at most so many of a file; none at the end.
  std::vector<std::string> next(size_t most);
  // Where the text of a number, from 1, is: "file:3", or "text 3".
  std::string place(size_t number) const;

 private:
  std::vector<std::string> texts_;
  std::filesystem::path file_;
  std::unique_ptr<LineReader> reader_;
};

}  // namespace attend::cli
