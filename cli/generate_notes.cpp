#include "cli/generate_notes.h"

#include <algorithm>
#include <utility>

#include "attend/base/counted.h"
#include "cli/terminal.h"

namespace attend::cli {

void GenerateNotes::about(const Generation& generation, size_t line) {
  if (generation.texts.empty()) return;  // the program was told to end before
  size_t longest = 0, rolled = 0;
  for (const GeneratedText& text : generation.texts) {
    longest = std::max(longest, 1 + generation.prompt.size() + text.tokens.size());
    rolled = std::max(rolled, text.rolled);
  }
  if (generation.unread > 0 && !std::exchange(said_unread_, true)) {
    notify("attend: prompt {} has {} tokens; the model read the last {}, which are its context\n",
           line, generation.prompt.size(), *window_);
  }
  if (rolled > 0 && !std::exchange(said_rolled_, true)) {
    notify("attend: the context of {} tokens was full; the text went on from the last {} of them\n",
           *window_, std::max<size_t>(*window_ / 2, 1));
  }
  if (!window_ && trained_ && longest > *trained_ && !std::exchange(said_untrained_, true)) {
    notify(
        "attend: the text outgrew the {0} tokens of context that the model was trained with; "
        "--context {0} keeps to them\n",
        *trained_);
  }
}

void GenerateNotes::about_unknown(const SpecialTokens& special, std::span<const int32_t> prompt) {
  const auto unknown = std::ranges::count(prompt, special.unknown);
  if (unknown == 0 || std::exchange(said_unknown_, true)) return;
  notify("attend: {} of the prompt's {} {} not in the vocabulary; the model reads <unk>\n", unknown,
         counted(prompt.size(), "token"), unknown == 1 ? "is" : "are");
}

void GenerateNotes::about_end() {
  if (std::exchange(said_end_, true)) return;
  notify("attend: the model ended the text; what you type next starts a new one\n");
}

}  // namespace attend::cli
