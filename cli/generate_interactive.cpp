#include "cli/generate_interactive.h"

#include <unistd.h>

#include "cli/generate_output.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

constexpr std::string_view kNew = "/new";

class Conversation {
 public:
  Conversation(const TextGenerator& generator, GenerateNotes& notes, const std::atomic<bool>& stop)
      : generator_(generator), notes_(notes), stop_(stop) {}

  // What was typed is a line of its own; the model may continue it. Nothing typed: the model writes
  // on.
  void take(std::string_view line) {
    if (line == kNew) return start_over();
    if (!line.empty()) {
      const bool inside = !ids_.empty() && !at_line_start_;
      const std::string text = (inside ? "\n" : "") + std::string(line);
      notes_.about_unknown(generator_.tokenizer().special(), append(generator_.encode(text)));
      at_line_start_ = false;
    }
    write();
  }

 private:
  std::span<const int32_t> append(const std::vector<int32_t>& more) {
    ids_.insert(ids_.end(), more.begin(), more.end());
    return std::span(ids_).last(more.size());
  }

  void write() {
    bool open_line = false;
    const auto print = [&](const TextPiece& piece) {
      write_text(piece.text);
      if (!piece.text.empty()) open_line = !piece.text.ends_with('\n');
    };
    const Generation written =
        generator_({ids_}, {.on_text = print, .stop = &stop_, .first_line = turn_++}).front();
    if (open_line) write_text("\n");
    forget_interrupt();
    if (written.texts.empty()) return;
    const GeneratedText& text = written.texts.front();
    append(text.tokens);
    // What stopped it is not shown, but is part of the text.
    const std::string all = generator_.tokenizer().decode(text.tokens);
    if (!all.empty()) at_line_start_ = all.ends_with('\n');
    notes_.about(written, turn_);
    if (text.finish != FinishReason::kEnded) return;
    notes_.about_end();
    start_over();
  }

  void start_over() {
    ids_.clear();
    at_line_start_ = false;
  }

  const TextGenerator& generator_;
  GenerateNotes& notes_;
  const std::atomic<bool>& stop_;
  std::vector<int32_t> ids_;  // all that was typed and written
  bool at_line_start_ = false;
  size_t turn_ = 0;
};

}  // namespace

int run_interactive(const TextGenerator& generator, GenerateNotes& notes,
                    const std::atomic<bool>& stop) {
  const bool person = isatty(STDIN_FILENO) != 0;
  if (person) {
    notify(
        "attend: type a line and the model continues it; an empty line lets it go on, {} starts a "
        "new text. Ctrl-C ends what it writes, Ctrl-D ends the program.\n",
        kNew);
  }
  std::optional<LineReader> input;  // which looks at the first bytes, and waits for them
  Conversation conversation(generator, notes, stop);
  while (true) {
    if (person) notify("> ");
    {
      const SignalsEndProgram while_waiting;
      if (!input) input.emplace(open_text("-", ""));
      if (!next_whole(*input)) break;
    }
    conversation.take(input->line());
    if (stop) return stopped_exit_code();
  }
  if (person) notify("\n");
  return 0;
}

}  // namespace attend::cli
