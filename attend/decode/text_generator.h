// Text that continues prompts, by a language model: sampled or searched, many prompts at a time,
// and streamed as it is written.
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
  // Sampling and repetition penalties. Its other settings follow from those below.
  SearchConfig search = {.sample = true, .temperature = 0.8f, .top_k = 40, .top_p = 0.95f};
  size_t max_tokens = 256;  // after the prompt
  size_t min_tokens = 0;
  size_t samples = 1;             // texts for each prompt
  size_t best_of = 0;             // sample this many and return the most probable; 0: return all
  size_t beam = 0;                // search with this many hypotheses; 1 is greedy; 0: sample
  std::vector<std::string> stop;  // texts that end the generation, and are not returned
  // The most tokens read at once; none: as many as the model has positions. A longer text continues
  // from the last half of them: see SearchRuntime::window.
  std::optional<size_t> context;
  size_t batch_tokens = 16384;  // of texts written together, at most, or of one prompt

  void check() const;  // throws ConfigError
  // The settings of the search. A temperature of 0 is a beam of 1.
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

// Why a text ended.
enum class FinishReason {
  kEnded,        // the model wrote the end
  kLength,       // max_tokens
  kStopped,      // one of GenerationConfig::stop
  kInterrupted,  // GenerationRuntime::stop
};
std::string_view name_of(FinishReason reason);  // "end", "length", "stop", "interrupted"

// A text that was written.
struct GeneratedText {
  std::string text;             // what follows the prompt, up to a stop text; valid UTF-8
  std::vector<int32_t> tokens;  // all tokens that were written, without the end
  std::vector<float> log_probabilities = {};  // the model's, of each token and of an end
  double log_probability = 0;                 // of all of them
  double score = 0;                           // by which best_of and beam rank texts
  FinishReason finish = FinishReason::kLength;
  size_t sample = 0;   // number among the samples of its prompt; with a beam, its rank
  size_t rolled = 0;   // how often the context was full and was shortened
  double seconds = 0;  // until it was finished, from the start of the call
};

// A prompt and its texts.
struct Generation {
  std::vector<int32_t> prompt;       // ids, without the start
  size_t unread = 0;                 // tokens at the front that did not fit into the context
  std::vector<GeneratedText> texts;  // in the order of samples, or best first
  double prompt_seconds = 0;         // until the prompt was read and the first token chosen
};

// The next part of a text that is certain: whole characters.
struct TextPiece {
  size_t prompt, place;           // number of the prompt, and of the text among its texts
  std::string_view text;          // may be empty
  const GeneratedText* finished;  // set with the last piece; null before
  const Generation& of;
};

// Callbacks, and what a call needs beside its settings.
struct GenerationRuntime {
  // Called with pieces as they are written, or with whole texts under best_of or a beam. Pieces of
  // several texts are interleaved.
  std::function<void(const TextPiece&)> on_text = {};
  // Called once for each prompt, after the last piece of its texts. A beam may find fewer texts
  // than requested.
  std::function<void(size_t prompt, const Generation& of)> on_closed = {};
  // Texts end at the first step after this becomes true; prompts not yet started get none.
  const std::atomic<bool>* stop = nullptr;
  // Number of the first prompt in the whole input, on which sampling depends.
  size_t first_line = 0;
};

// Tokens that a language model read at once when it was trained; none where its directory does not
// say, because it has no attend.yaml.
std::optional<size_t> trained_context(const ModelDirectory& directory, const TextModel& model);

// Writes texts with fixed settings. May be called from several threads at once.
class TextGenerator {
 public:
  // Throws ConfigError for invalid settings, and for a model that is not a language model.
  TextGenerator(TextModel model, GenerationConfig config);

  // A prompt's texts depend on the prompt, the config and, if sampled, its number in the whole
  // input, but not on the other prompts. Throws DataError if the model's output is not finite.
  std::vector<Generation> operator()(std::span<const std::string> prompts,
                                     const GenerationRuntime& runtime = {}) const;
  std::vector<Generation> operator()(std::vector<std::vector<int32_t>> prompts,
                                     const GenerationRuntime& runtime = {}) const;

  // The ids of a text, encoded line by line as in training.
  std::vector<int32_t> encode(std::string_view text) const;

  // What it was made from.
  const TextModel& model() const { return model_; }
  const Tokenizer& tokenizer() const { return model_.tokenizer(written_.name); }
  const GenerationConfig& config() const { return config_; }
  // The most tokens read at once, with the start; none: no limit.
  std::optional<size_t> window() const { return runtime_.window; }
  // Whether texts are streamed token by token.
  bool streams() const;

 private:
  TextModel model_;
  GenerationConfig config_;
  ColumnSpec written_;
  SearchRuntime runtime_;
};

}  // namespace attend
