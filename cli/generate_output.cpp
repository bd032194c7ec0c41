#include "cli/generate_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/printable.h"
#include "attend/io/json_text.h"
#include "cli/output.h"

namespace attend::cli {
namespace {

double microseconds(double seconds) { return std::round(seconds * 1e6) / 1e6; }

nlohmann::ordered_json as_json(const TextPiece& piece, const std::string& prompt, size_t line) {
  const GeneratedText& text = *piece.finished;
  return {{"line", line},
          {"sample", text.sample},
          {"prompt", prompt},
          {"text", text.text},
          {"finish", name_of(text.finish)},
          {"log_probability", text.log_probability},
          {"score", text.score},
          {"prompt_tokens", piece.of.prompt},
          {"tokens", text.tokens},
          {"token_log_probabilities", text.log_probabilities},
          {"prompt_seconds", microseconds(piece.of.prompt_seconds)},
          {"seconds", microseconds(text.seconds)}};
}

}  // namespace

void write_text(std::string_view text) {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  while (terminal && !text.empty()) {
    const size_t feed = std::min(text.find('\n'), text.size());
    const std::string shown = printable(text.substr(0, feed));
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    if (feed < text.size()) std::fputc('\n', stdout);
    text.remove_prefix(std::min(feed + 1, text.size()));
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void GenerateOutput::begin(std::span<const std::string> prompts, size_t first_line) {
  prompts_ = prompts;
  first_line_ = first_line;
  kept_.assign(prompts.size() * texts_each_, {});
  turn_ = 0;
  if (!options_.json && !kept_.empty()) start_text();  // it is seen while the model reads it
}

void GenerateOutput::add(const TextPiece& piece) {
  Kept& kept = kept_[piece.prompt * texts_each_ + piece.place];
  kept.finished = piece.finished != nullptr;
  if (!options_.json) {
    kept.text += piece.text;
  } else if (kept.finished) {
    const size_t line = first_line_ + piece.prompt;
    kept.text = output_text(json_text(as_json(piece, prompts_[piece.prompt], line)));
  }
  print_kept();
}

void GenerateOutput::close(size_t prompt) {
  for (Kept& kept : std::span(kept_).subspan(prompt * texts_each_, texts_each_)) {
    kept.missing = !kept.finished && kept.text.empty();
    kept.finished = true;
  }
  print_kept();
}

void GenerateOutput::print_kept() {
  for (; turn_ < kept_.size(); ++turn_) {
    Kept& now = kept_[turn_];
    if (now.missing && !started_) continue;
    if (now.text.empty() && !now.finished) return;
    start_text();
    if (!now.text.empty()) {
      write_text(now.text);
      open_line_ = !now.text.ends_with('\n');
      now.text.clear();
    }
    if (!now.finished) return;
    end_text();
  }
}

void GenerateOutput::start_text() {
  if (std::exchange(started_, true)) return;
  const bool first = !std::exchange(any_, true);
  if (options_.json) return;
  if (!first && !options_.separator.empty()) write_text(options_.separator + "\n");
  open_line_ = true;  // a text without a character has a line, too
  if (!options_.echo) return;
  write_text(prompts_[turn_ / texts_each_]);
}

void GenerateOutput::end_text() {
  end();
  started_ = false;
}

void GenerateOutput::end() {
  if (std::exchange(open_line_, false)) write_text("\n");
}

}  // namespace attend::cli
