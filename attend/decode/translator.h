// Lines of text through a model, or several: encoded, batched by length, searched, decoded, and
// given back in their order. A line without text stays one: its translation is empty and certain,
// unless a label is asked for.
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
  std::vector<int32_t> source;         // ids that the model read, with their end
  std::vector<Tensor> alignments;      // of each, where they were asked for
};

struct TranslatorConfig {
  SearchConfig search;
  size_t batch_tokens = 4096;  // rows of a step's sources at most, times the beam
  std::optional<AlignmentConfig> alignment = {};  // by the first model
  size_t longest_line = 0;                        // tokens at most; 0: as many as the model takes
};

class Translator {
 public:
  // Several models write together; they share their vocabularies.
  Translator(std::vector<TextModel> models, TranslatorConfig config);

  // `first_line` is the number of the first in the whole input, from which lots are drawn; `starts`
  // may say what each translation starts with. DataError, naming the line, where one is too long.
  std::vector<Translation> operator()(std::span<const std::string> lines, size_t first_line = 0,
                                      std::span<const std::string> starts = {}) const;

  const TextModel& model() const { return models_.front(); }
  // Whether a line is short enough for all of the models; DataError, naming its place, if not.
  bool fits(std::string_view line) const;
  void check(std::string_view line, std::string_view place) const;

 private:
  bool stays_empty(std::string_view line, std::string_view start) const;
  void run(std::span<const size_t> which, std::span<const std::vector<int32_t>> sources,
           size_t first_line, std::span<const std::string> starts,
           std::vector<Translation>& to) const;
  void align(std::span<const size_t> which, std::vector<Translation>& to) const;

  std::vector<TextModel> models_;
  TranslatorConfig config_;
  LineLimit limit_;
  std::unique_ptr<Generator> ensemble_;
};

}  // namespace attend
