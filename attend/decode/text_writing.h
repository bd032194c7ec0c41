// The texts of some prompts while they are being written. Not for use outside decode/.
#pragma once

#include "attend/base/clock.h"
#include "attend/decode/chooser.h"
#include "attend/decode/stop_text.h"
#include "attend/decode/text_generator.h"
#include "attend/text/text_stream.h"

namespace attend {

class TextWriting {
 public:
  // All must outlive it.
  TextWriting(const TextGenerator& generator, const SearchRuntime& search,
              std::vector<std::vector<int32_t>> prompts, const GenerationRuntime& runtime);

  std::vector<Generation> run();

 private:
  // What a hypothesis says.
  struct Writer {
    TextStream stream;
    StopText stop;
    std::string text = {}, fresh = {};  // all of it; what has become certain in this step

    void add(const std::string& more) {
      text += more;
      fresh += more;
    }
  };
  // A prompt whose texts are being written; its number is that of its record.
  struct Open {
    Clock::time_point since;
    size_t tokens;  // that its texts have at most
    bool chosen = false;
  };

  bool stopped() const { return runtime_.stop != nullptr && *runtime_.stop; }
  size_t most_tokens(size_t prompt) const;
  void admit();
  void step();
  void write(std::vector<Candidate>& chosen);
  void finish(Frontier::Finished& done);
  void add_text(size_t prompt, GeneratedText text, const Hypothesis& hypothesis,
                const Writer& writer);
  void close(size_t prompt);
  void rank(size_t prompt);
  void close_finished();
  void interrupt();
  void say(size_t prompt, size_t place, std::string_view text, const GeneratedText* finished) const;

  const TextGenerator& generator_;
  const GenerationRuntime& runtime_;
  SearchConfig config_;
  bool streams_;
  std::vector<Generation> all_;
  std::vector<Open> open_;    // of the prompts so far
  size_t open_tokens_ = 0;    // that are being written
  std::vector<size_t> live_;  // prompts that are not closed
  Frontier frontier_;
  Chooser choose_;
  std::vector<Writer> writers_;                    // by slot
  std::vector<std::vector<Hypothesis>> finished_;  // by prompt
};

}  // namespace attend
