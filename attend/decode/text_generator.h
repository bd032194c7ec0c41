// Text that continues prompts, by a model that reads what it writes: sampled or searched, many
// prompts at a time, and given out as it is written.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/decode/search.h"
#include "attend/models/text_model.h"

namespace attend {

struct GenerationConfig {
  // How tokens are sampled and what repeating costs. The rest of it follows from the settings
  // below.
  SearchConfig search = {.sample = true, .temperature = 0.8f, .top_k = 40, .top_p = 0.95f};
  size_t max_tokens = 256;  // after the prompt
  size_t min_tokens = 0;
  size_t samples = 1;             // texts for each prompt, which is read once
  size_t best_of = 0;             // samples of which the likeliest are given; 0: as many as that
  size_t beam = 0;                // searches instead of sampling; 1 is greedy; 0: samples
  std::vector<std::string> stop;  // texts that end it, and are not given
  // Tokens read at once, at most; none: as many as the model has positions. Past them a text goes
  // on from the last half of them: see SearchRuntime::window.
  std::optional<size_t> context;
  size_t batch_tokens = 16384;  // of the texts that are written together, or one prompt's

  void check() const;  // throws ConfigError
  // What a search is told. A temperature of 0 is a beam of 1.
  SearchConfig search_config() const;

  template <typename V>
  void fields(V& v) {
    v("max_tokens", max_tokens, "most tokens of a text, after its prompt", limits::kLength);
    v("min_tokens", min_tokens, "fewest tokens before the end", limits::kLength.or_0());
    v("samples", samples, "texts for each prompt", limits::kBeam);
    v("best_of", best_of,
      "write this many samples, and give the likeliest by mean log-probability; 0: give all",
      limits::kBeam.or_0());
    v("beam", beam,
      "search for the likeliest text with this many hypotheses; 1 is greedy, 0 samples",
      limits::kBeam.or_0());
    v("length_penalty", search.length_penalty,
      "of best-of and beam: log-probabilities are divided by the length to this power");
    search.sampling_fields(v);
    search.penalty_fields(v);
    v("context", context,
      "tokens read at once at most; a longer text goes on from the last half of them; none: all "
      "that the model has positions for",
      limits::kLength);
    v("batch_tokens", batch_tokens, "tokens of texts written together, at most", limits::kCount);
  }
};

enum class FinishReason {
  kEnded,        // the model ended it
  kLength,       // it has max_tokens
  kStopped,      // one of GenerationConfig::stop
  kInterrupted,  // GenerationRuntime::stop
};
std::string_view name_of(FinishReason reason);  // "end", "length", "stop", "interrupted"

struct GeneratedText {
  std::string text;             // what follows the prompt: UTF-8, up to what stopped it
  std::vector<int32_t> tokens;  // all that were written, without the end
  std::vector<float> log_probabilities = {};  // the model's, of each, and of an end
  double log_probability = 0;                 // of all of them
  double score = 0;                           // by which best_of and beam rank it
  FinishReason finish = FinishReason::kLength;
  size_t sample = 0;   // its number among the samples of its prompt; of a beam, its rank
  size_t rolled = 0;   // how often the context was full
  double seconds = 0;  // until it was finished
};

struct Generation {
  std::vector<int32_t> prompt;       // ids, without the start
  size_t unread = 0;                 // tokens at their front that the context had no room for
  std::vector<GeneratedText> texts;  // in the order of samples, or the best first
  double prompt_seconds = 0;         // until the prompt was read and the first token chosen
};

// What has become certain of a text: whole characters.
struct TextPiece {
  size_t prompt, place;           // number of its prompt, and of the text among its texts
  std::string_view text;          // perhaps nothing
  const GeneratedText* finished;  // with the last piece; null before
  const Generation& of;
};

struct GenerationRuntime {
  // Hears of pieces as they are written; where best_of or a beam has to decide, of whole texts.
  // Those of several texts come interleaved.
  std::function<void(const TextPiece&)> on_text = {};
  // Hears of each prompt once, after the last piece of its texts: of a beam they may be fewer than
  // were asked for.
  std::function<void(size_t prompt, const Generation& of)> on_closed = {};
  // Texts end at the first step after this becomes true; prompts that wait have none.
  const std::atomic<bool>* stop = nullptr;
  size_t first_line = 0;  // number of the first prompt in the whole input: sampling depends on it
};

class TextGenerator {
 public:
  // Throws ConfigError for settings that cannot be, and for a model that is no language model,
  // naming the command that is for it.
  TextGenerator(TextModel model, GenerationConfig config);

  // A prompt's texts are a function of the prompt, the config and, where they are sampled, its
  // number in the whole input; they do not depend on the prompts beside it. Throws DataError where
  // the model's output is not finite.
  std::vector<Generation> operator()(std::span<const std::string> prompts,
                                     const GenerationRuntime& runtime = {}) const;
  std::vector<Generation> operator()(std::vector<std::vector<int32_t>> prompts,
                                     const GenerationRuntime& runtime = {}) const;

  // Ids of a text as the model was trained on them: line by line, each with its end.
  std::vector<int32_t> encode(std::string_view text) const;

  const TextModel& model() const { return model_; }
  const Tokenizer& tokenizer() const { return model_.tokenizer(written_.name); }
  const GenerationConfig& config() const { return config_; }
  // Tokens read at once, with the start; none: any number.
  std::optional<size_t> window() const { return runtime_.window; }
  // Whether texts are given out token by token.
  bool streams() const;

 private:
  TextModel model_;
  GenerationConfig config_;
  ColumnSpec written_;
  SearchRuntime runtime_;
};

}  // namespace attend
