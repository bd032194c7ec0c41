// What a person sees of training: one live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "attend/train/trainer.h"

namespace attend::cli {

class Progress : public TrainingObserver {
 public:
  explicit Progress(Metric metric);  // of validation
  ~Progress() override;

  void on_report(const TrainingReport& report) override;
  void on_step(const TrainingReport& report) override;  // a terminal sees one each second
  void on_validation(const TrainingReport& report, const ValidationScore& score,
                     bool best) override;
  void on_message(const std::string& text) override;

 private:
  std::string grey(const std::string& text) const;
  std::string line_of(const TrainingReport& report) const;
  void show(const std::string& line, bool lasting);

  Metric metric_;
  bool live_, colours_;  // standard error is a terminal
  size_t shown_ = 0;     // columns of the live line
  std::string validation_;
  std::chrono::steady_clock::time_point shown_at_{};
};

// One line of standard error that shows the progress of something long, and is removed at the end.
// Nothing is shown in the first second, or where standard error is no terminal.
class LiveLine {
 public:
  LiveLine() = default;
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void show(const std::string& line);

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

// The progress of a file's lines, on a terminal where the results go elsewhere: "1,200 of 5,000
// lines, 340 lines/s, 11s left".
class LineProgress {
 public:
  explicit LineProgress(const std::filesystem::path& file);  // shows nothing without one

  void begin_at(size_t lines) { before_ = lines; }  // done before what show() counts
  void show(size_t lines);

 private:
  std::optional<LiveLine> line_;
  std::optional<size_t> all_;
  size_t before_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// "1200 of 5000 lines, 340 lines/s, 11s left", after so many seconds; without the total, only what
// is known.
std::string line_progress_text(size_t lines, std::optional<size_t> all, double seconds);

// Text with escape sequences for colours, cut to so many columns.
std::string cut_to_columns(std::string_view text, size_t columns);

// "1h 02m", "3m 20s", "45s".
std::string duration(double seconds);
size_t peak_memory();  // of this process

}  // namespace attend::cli
