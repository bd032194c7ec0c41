#include "cli/argument_texts.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/text_input.h"

namespace attend::cli {

void check_argument_texts(std::string_view command, std::span<const std::string> texts,
                          const std::filesystem::path& file) {
  if (!texts.empty() && !file.empty()) {
    throw CLI::ValidationError("--input", "does not go with a text as an argument");
  }
  for (const std::string& text : texts) {
    if (text.find('\n') == text.npos) continue;
    throw CLI::ValidationError(fmt::format(
        "{}: the text has a line feed; give each line as an argument of its own", command));
  }
}

ArgumentTexts::ArgumentTexts(std::span<const std::string> texts, const std::filesystem::path& file,
                             std::string_view lines) {
  for (const std::string& text : texts) texts_.push_back(repaired(text, "the text"));
  if (!texts_.empty()) return;
  file_ = file.empty() ? "-" : file;
  reader_ = std::make_unique<LineReader>(
      open_text(file_, fmt::format("{} (a text may also be an argument)", lines)));
}

std::vector<std::string> ArgumentTexts::next(size_t most) {
  return reader_ ? read_window(*reader_, most) : std::exchange(texts_, {});
}

std::string ArgumentTexts::place(size_t number) const {
  return reader_ ? place_of_line(file_, number) : fmt::format("text {}", number);
}

}  // namespace attend::cli
