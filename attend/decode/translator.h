// Lines of text through a model, or several, that read one sequence and write another: encoded,
// batched by length, searched, decoded, and returned in their order. Blank lines stay blank.
#pragma once

#include <string>
#include <vector>

#include "attend/decode/alignment.h"
#include "attend/decode/line_limit.h"
#include "attend/decode/search.h"
#include "attend/models/text_model.h"

namespace attend {

struct Translation {
  std::vector<Hypothesis> hypotheses;  // best first; of a beam, those with a text of their own
  std::vector<std::string> texts;      // of each
  std::vector<int32_t> source;         // ids as the model reads them, with start and end
  std::vector<Tensor> alignments;      // of each, where they were asked for
};

struct TranslatorConfig {
  SearchConfig search;
  size_t batch_tokens = 4096;  // rows of a step's sources at most, times the beam
  std::optional<AlignmentConfig> alignment = {};  // by the first model
  size_t longest_line = 0;                        // tokens at most; 0: as many as the model takes
  TokenSequences banned = {};                     // never written
  const std::atomic<bool>* stop = nullptr;        // throws Stopped once this is true
};

class Translator {
 public:
  // Several models write together; they share their tokenizers. Throws ConfigError for settings
  // that cannot be, and for a model that does not read one sequence of tokens and write another,
  // naming the command that is for it.
  Translator(std::vector<TextModel> models, TranslatorConfig config);

  // `first_line` is the number of the first line in the whole input, which sampling depends on;
  // `starts` may say what each translation starts with. Throws DataError, naming the line, where
  // one is too long.
  std::vector<Translation> operator()(std::span<const std::string> lines, size_t first_line = 0,
                                      std::span<const std::string> starts = {}) const;

  const TextModel& model() const { return models_.front(); }
  // Those of what is read and of what is written.
  const Tokenizer& source() const { return model().tokenizer(source_.name); }
  const Tokenizer& target() const { return model().tokenizer(target_.name); }

  // Whether a line is short enough for all of the models; DataError, naming its place, if not.
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
