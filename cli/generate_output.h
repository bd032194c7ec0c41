// What `attend generate` prints: the texts of prompts in their order, each as it is written.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/decode/text_generator.h"

namespace attend::cli {

struct GenerateOutputOptions {
  bool json = false;
  bool echo = true;               // the prompt, before what continues it
  std::string separator = "---";  // a line between texts; empty: none
};

// Whole characters to standard output, at once. On a terminal control characters other than ends of
// lines are shown as escapes.
void write_text(std::string_view text);

class GenerateOutput {
 public:
  GenerateOutput(GenerateOutputOptions options, size_t texts_each)
      : options_(std::move(options)), texts_each_(texts_each) {}

  // The prompts whose pieces follow, and the number of the first. They must outlive them.
  void begin(std::span<const std::string> prompts, size_t first_line);
  // Prints a piece, or keeps it until it is its text's turn.
  void add(const TextPiece& piece);
  // A prompt has no more texts than those that were finished.
  void close(size_t prompt);
  // Ends a line that is open.
  void end();

 private:
  struct Kept {
    std::string text;
    bool finished = false;
    bool missing = false;  // it never came
  };

  void print_kept();
  void start_text();
  void end_text();
  void print_json(const TextPiece& piece);

  GenerateOutputOptions options_;
  size_t texts_each_;
  std::span<const std::string> prompts_;
  size_t first_line_ = 0;
  std::vector<Kept> kept_;  // of each text
  size_t turn_ = 0;         // the text that is printed
  bool any_ = false;        // texts so far
  bool started_ = false;    // this text
  bool open_line_ = false;
};

}  // namespace attend::cli
