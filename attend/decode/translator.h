// Translates lines of text with a model, or an ensemble, that reads one sequence and writes
// another. Lines are encoded, batched by length, searched and decoded, and returned in order. Blank
// lines stay blank.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attend/decode/alignment.h"
#include "attend/decode/line_limit.h"
#include "attend/decode/search.h"
#include "attend/models/text_model.h"

namespace attend {

// The translations of a line.
struct Translation {
  std::vector<Hypothesis> hypotheses;  // best first; in a beam, without duplicate texts
  std::vector<std::string> texts;      // of each hypothesis
  std::vector<int32_t> source;         // ids as the model reads them, with start and end
  std::vector<Tensor> alignments;      // of each hypothesis, if requested
};

struct TranslatorConfig {
  SearchConfig search;
  size_t batch_tokens = 4096;  // the most source rows of a batch, times the beam
  // By the first model's attention; none: no alignments.
  std::optional<AlignmentConfig> alignment = {};
  size_t longest_line = 0;     // the most tokens of a line; 0: as many as the model has positions
  TokenSequences banned = {};  // never written, as ids
  const std::atomic<bool>* stop = nullptr;  // throws Stopped once this is true
  // Called with the number of lines of a call that are done, as batches are.
  std::function<void(size_t lines)> on_progress = {};
};

// Translates with fixed settings. May be called from several threads at once.
class Translator {
 public:
  // Several models form an ensemble; they must have the same tokenizers. Throws ConfigError for
  // invalid settings, and for a model that does not read one sequence of tokens and write another.
  Translator(std::vector<TextModel> models, TranslatorConfig config);

  // Translates lines. `first_line` is the number of the first line in the whole input, on which
  // sampling depends. `starts`, if given, has the beginning of each translation. Throws DataError,
  // which names the line, if one is too long.
  std::vector<Translation> operator()(std::span<const std::string> lines, size_t first_line = 0,
                                      std::span<const std::string> starts = {}) const;

  const TextModel& model() const { return models_.front(); }  // the first one
  // The tokenizers of what is read and of what is written.
  const Tokenizer& source() const { return model().tokenizer(source_.name); }
  const Tokenizer& target() const { return model().tokenizer(target_.name); }

  // Whether a line is short enough for all models; check() throws DataError, which names its place,
  // if not.
  bool fits(std::string_view line) const;
  void check(std::string_view line, std::string_view place) const;

 private:
  std::vector<int32_t> framed_source(std::span<const int32_t> ids) const;
  void run(std::span<const size_t> which, std::span<const std::vector<int32_t>> sources,
           size_t first_line, std::span<const std::string> starts,
           std::vector<Translation>& to) const;
  void align(std::span<const size_t> which, const Batch& inputs,
             std::vector<Translation>& to) const;

  std::vector<TextModel> models_;
  TranslatorConfig config_;
  ColumnSpec source_, target_;  // of all models
  LineLimit limit_;
  SearchRuntime runtime_;  // for all lines
  std::unique_ptr<Generator> ensemble_;
};

}  // namespace attend
