// A trained model, ready to use: attend::load("model").translate("ein Haus").
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/decode/embed.h"
#include "attend/decode/fill.h"
#include "attend/decode/text_generator.h"
#include "attend/decode/translator.h"

namespace attend {

// How load() prepares a model.
struct LoadOptions {
  // Lay the weights out for inference (Model::pack). A packed model is faster, but can no longer be
  // trained or saved.
  bool pack = true;
  // Directories of adapters (attend/models/adapter.h) that change the model, all of them together.
  std::vector<std::filesystem::path> adapters = {};
};

// A label that a model gives to a text.
struct Label {
  std::string text;
  double probability = 0;  // between 0 and 1
};

// A word of a text, which stands between white space, with the tag that a model gives to it.
struct TaggedWord {
  std::string word, tag;
  double probability = 0;  // of the tag at this word, between 0 and 1
};

// A handle to a model that was loaded. Copies share the weights, which live as long as the last
// copy; copying and moving are cheap. All members are const and may be called from several threads
// at once: each call computes on the library's threads, and gives the same result whatever runs
// beside it. A handle that was moved from may only be assigned to or destroyed.
//
// A member that the model is not for throws ConfigError, which names the one to use. A text that is
// too long for the model's learned positions throws DataError.
class LoadedModel {
 public:
  // Takes a model that is in memory: its parameters must not change while any handle uses it.
  explicit LoadedModel(TextModel model, const LoadOptions& options = {});

  // The best translation, or whatever the model was trained to write for a text. A blank text stays
  // blank. Several texts are batched, which is much faster than one call for each; results are in
  // the order of the texts.
  std::string translate(std::string_view text) const;
  std::vector<std::string> translate(std::span<const std::string> texts) const;
  std::vector<std::string> translate(std::initializer_list<std::string> texts) const;

  // The same with options: translate("ein Haus", {.search = {.beam = 8}}). Options are checked in
  // each call; to translate much with the same ones, keep a translator().
  std::string translate(std::string_view text, const TranslatorConfig& options) const;
  std::vector<std::string> translate(std::span<const std::string> texts,
                                     const TranslatorConfig& options) const;

  // What a language model writes after the prompt, which is not repeated; an empty prompt starts a
  // new text. Texts are sampled, the same one for the same prompt, options and seed:
  // generate("Once", {.search = {.temperature = 0.7f, .seed = 2}, .max_tokens = 50}). A temperature
  // of 0 always takes the most probable token.
  std::string generate(std::string_view prompt) const;
  std::string generate(std::string_view prompt, const GenerationConfig& options) const;

  // The most probable label of each text.
  Label classify(std::string_view text) const;
  std::vector<Label> classify(std::span<const std::string> texts) const;
  std::vector<Label> classify(std::initializer_list<std::string> texts) const;
  // All labels of a text, most probable first; their probabilities add up to 1.
  std::vector<Label> labels(std::string_view text) const;

  // The tag of each word of a text, by a model that tags. A text without words has none.
  std::vector<TaggedWord> tag(std::string_view text) const;
  std::vector<std::vector<TaggedWord>> tag(std::span<const std::string> texts) const;
  std::vector<std::vector<TaggedWord>> tag(std::initializer_list<std::string> texts) const;

  // The number that a regression model gives to a text, in the unit of the numbers it was trained
  // with; and to a pair of texts, by a model of pairs.
  double number(std::string_view text) const;
  double number(std::string_view text, std::string_view pair) const;
  std::vector<double> numbers(std::span<const std::string> texts) const;
  std::vector<double> numbers(std::initializer_list<std::string> texts) const;

  // What a masked language model would write at each "[MASK]" of a text: the most probable tokens,
  // best first. fill("the film is [MASK] .")[0][0].text is the text with the best one. A text
  // without a mask has no candidates.
  FilledMasks fill(std::string_view text, size_t count = 5) const;

  // The log-probability (natural logarithm) that the model gives to writing `target` for `source`,
  // its end included. score_text() (attend/decode/score.h) gives it token by token.
  double score(std::string_view source, std::string_view target) const;
  // The same of a text, by a language model.
  double score(std::string_view text) const;

  // A vector for each text, [texts, width], by any model that has an encoder; see decode/embed.h.
  Tensor embed(std::span<const std::string> texts, const EmbeddingOptions& options = {}) const;
  Tensor embed(std::initializer_list<std::string> texts,
               const EmbeddingOptions& options = {}) const;
  // The words nearest to a word, or to "king - man + woman", by the vectors in which the model
  // looks words up.
  std::vector<WordNeighbours::Word> neighbours(std::string_view query, size_t count = 10) const;

  // What lies beneath: the model with its tokenizers. It is packed, unless LoadOptions say
  // otherwise.
  const TextModel& text_model() const;
  // All hypotheses with scores and alignments; lines too long are named; may be stopped.
  Translator translator(TranslatorConfig options = {}) const;
  // Several prompts or samples, streamed as they are written. Where the options set no context, a
  // model with learned positions reads at most as many tokens as it was trained on.
  TextGenerator text_generator(GenerationConfig options = {}) const;

 private:
  friend LoadedModel load(const std::filesystem::path& directory, const LoadOptions& options);
  struct State;

  const Translator& default_translator() const;
  const TextGenerator& default_generator() const;
  const WordNeighbours& word_neighbours() const;

  std::shared_ptr<State> state_;
};

// Loads the model in a directory that `attend train` or run_training() wrote. Throws IoError for a
// file that is missing, FormatError or ConfigError for one that is wrong, each naming the file, and
// MemoryError where the weights do not fit into memory.
LoadedModel load(const std::filesystem::path& directory, const LoadOptions& options = {});

}  // namespace attend
