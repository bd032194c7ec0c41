#include "cli/progress.h"
#include "attend/base/printable.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/terminal.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

// Of a terminal: in place of the line that is there, and no wider than it is.
void rewrite_line(const std::string& line) {
  notify("\r\x1b[K{}", cut_to_columns(line, columns_of(STDERR_FILENO) - 1));
}

std::string metric_text(Metric metric, const ValidationScore& score) {
  std::string text = fmt::format("loss {:.3f}, perplexity {:.2f}", score.loss, score.perplexity);
  for (size_t i = 0; i < score.parts.size(); ++i) {
    text += fmt::format("{}{} {:.2f}{}", i == 0 ? " (" : ", ", score.parts[i].name,
                        score.parts[i].perplexity, i + 1 == score.parts.size() ? ")" : "");
  }
  const int decimals = metrics()[static_cast<size_t>(metric)].in_percent ? 2 : 4;
  if (score.value) text += fmt::format(", {} {:.{}f}", name_of(metric), *score.value, decimals);
  return text;
}

}  // namespace

std::string cut_to_columns(std::string_view text, size_t columns) {
  std::string kept;
  size_t width = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\x1b') escape = true;
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // a byte of UTF-8
    if (!escape && !continues) ++width;
    if (escape || width <= columns) kept += c;
    if (escape && c == 'm') escape = false;
  }
  return kept;
}

std::string duration(double seconds) {
  const auto s = static_cast<long>(std::lround(seconds));
  if (s >= 3600) return fmt::format("{}h {:02}m", s / 3600, s / 60 % 60);
  if (s >= 60) return fmt::format("{}m {:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

Progress::Progress(Metric metric)
    : metric_(metric), live_(isatty(STDERR_FILENO) != 0), colours_(may_colour(STDERR_FILENO)) {}

Progress::~Progress() {
  if (shown_ > 0) notify("\n");
}

std::string Progress::grey(const std::string& text) const {
  return coloured(colours_, Colour::kGrey, text);
}

void Progress::show(const std::string& line, bool lasting) {
  if (!live_) {
    notify("{}\n", line);
    return;
  }
  if (lasting) {
    notify("\r\x1b[K{}\n", line);
  } else {
    rewrite_line(line);
  }
  shown_ = lasting ? 0 : line.size();
}

void Progress::on_report(const TrainingReport& r) {
  shown_at_ = std::chrono::steady_clock::now();
  show(line_of(r), false);
}

void Progress::on_step(const TrainingReport& r) {
  if (!live_ || std::chrono::steady_clock::now() - shown_at_ < std::chrono::seconds(1)) return;
  on_report(r);
}

std::string Progress::line_of(const TrainingReport& r) const {
  std::string line = fmt::format(
      "step {}/{}  epoch {:.1f}  loss {:.3f}  {}  {} left", r.step, r.steps, r.epoch, r.loss,
      grey(fmt::format("{:.0f} tokens/s", r.tokens_per_second)), duration(r.seconds_left));
  if (!validation_.empty()) line += "  " + coloured(colours_, Colour::kCyan, validation_);
  if (r.bad_updates > 0) {
    line += "  " +
            coloured(colours_, Colour::kYellow, fmt::format("{} updates skipped", r.bad_updates));
  }
  return line + "  " + grey(memory_text(peak_memory()));
}

void Progress::on_validation(const TrainingReport& r, const ValidationScore& score, bool best) {
  show(fmt::format("step {}  validation: {}{}", r.step, metric_text(metric_, score),
                   best ? coloured(colours_, Colour::kGreen, "  (best so far)") : ""),
       true);
  validation_ = score.value ? fmt::format("{} {:.2f}", name_of(metric_), *score.value)
                            : fmt::format("valid {:.3f}", score.loss);
}

void Progress::on_message(const std::string& text) { show(printable(text), true); }

LiveLine::~LiveLine() {
  if (shown_) rewrite_line("");
}

LineProgress::LineProgress(const std::filesystem::path& file) {
  if (file.empty() || isatty(STDERR_FILENO) == 0 || isatty(STDOUT_FILENO) != 0) return;
  all_ = count_lines(file);
  line_.emplace();
}

void LineProgress::show(size_t lines) {
  if (!line_) return;
  const auto spent = std::chrono::steady_clock::now() - start_;
  line_->show(
      line_progress_text(before_ + lines, all_, std::chrono::duration<double>(spent).count()));
}

std::string line_progress_text(size_t lines, std::optional<size_t> all, double seconds) {
  const double rate = static_cast<double>(lines) / std::max(seconds, 1e-3);
  if (!all) return fmt::format("{} lines, {:.0f} lines/s", lines, rate);
  const auto left = static_cast<double>(*all - std::min(lines, *all));
  return fmt::format("{} of {} lines, {:.0f} lines/s, {} left", lines, *all, rate,
                     duration(left / std::max(rate, 1e-3)));
}

void LiveLine::show(const std::string& line) {
  if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
  if (isatty(STDERR_FILENO) == 0) return;
  rewrite_line(line);
  shown_ = true;
}

}  // namespace attend::cli
