// A model with its tokenizers, and how both are stored in a model directory.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "attend/base/limits.h"
#include "attend/data/corpus_build.h"
#include "attend/io/model_directory.h"
#include "attend/models/model_config.h"
#include "attend/text/tokenizer.h"

namespace attend {

// The tokenizer of each column that a model reads or writes, by name. Columns may share a
// tokenizer; that of labels has a token for each label.
using Tokenizers = std::map<std::string, std::shared_ptr<const Tokenizer>, std::less<>>;

// An attention layer and head between what is written and what is read.
struct AlignmentPlace {
  std::string layer;
  std::optional<size_t> head;  // none: the mean of all

  template <typename V>
  void fields(V& v) {
    v("layer", layer, "attention layer");
    v("head", head, "head of it; none: the mean of all", limits::kHeads.or_0());
  }
};

// A model that reads and writes text. Copies share the model and its tokenizers; load()
// (attend/decode/loaded_model.h) wraps it for programs that only use a model.
struct TextModel {
  ModelConfig config;
  std::shared_ptr<Model> model;
  Tokenizers tokenizers;
  std::optional<AlignmentPlace> best_alignment = {};  // if it was determined

  // Lets the model look into the words of its tokenizers; load() does so.
  void read_words() const;

  // Loads a model directory; an adapter's with its base (models/adapter.h). Throws Error that names
  // the file that is missing or wrong.
  static TextModel load(const std::filesystem::path& root);

  // The tokenizer of a column. Throws ConfigError if there is none.
  const Tokenizer& tokenizer(std::string_view sequence) const;

  // The facets of the model. They throw ConfigError if it does not have them: "the model writes no
  // sequences: it is a label model; use classify".
  const Generator& generator() const;
  const Classifier& classifier() const;
  const Tagger& tagger() const;
  const Regressor& regressor() const;
  const MaskedPredictor& masked_predictor() const;

  // The sequence that it writes, and the one that it reads; none for a language model. written()
  // throws ConfigError if there is none.
  ColumnSpec written() const;
  std::optional<ColumnSpec> read() const;

  // The input batch for lines of ids, with the start and end that the model expects.
  Batch inputs(std::span<const std::vector<int32_t>> lines) const;

  std::string label(size_t number) const;  // the text of a classifier's label

  // Load and save the parts of a model directory: config.json and the tokenizers, the weights, the
  // best alignment. The description alone has a model without memory for its weights.
  static TextModel load_description(const ModelDirectory& directory);
  void save_description(const ModelDirectory& directory) const;
  void save_weights(const std::filesystem::path& file) const;
  void save_best_alignment(const ModelDirectory& directory) const;

 private:
  template <typename Facet>
  const Facet& facet(const Facet* found, std::string_view lacks) const;
};

// A tokenizer as corpora use it.
TextEncoder encoder_of(const std::shared_ptr<const Tokenizer>& tokenizer);

// The number of tokens or labels of each column that has a tokenizer.
ModelConfig::Vocabularies vocabularies_of(const Tokenizers& tokenizers, const Signature& signature);

// Throws ConfigError if columns that form one sequence have different tokenizers.
void check_tokenizers(const Tokenizers& tokenizers, const Signature& signature);

// The architecture of a model directory. Throws IoError if it is not a model directory, FormatError
// if a later version wrote it.
ModelConfig load_model_config(const ModelDirectory& directory);

// The tokenizers in a model directory, by column; may be empty. Throws FormatError if there is a
// shared one and one for a column.
Tokenizers load_tokenizers(const ModelDirectory& directory, const Signature& signature);
// Saves tokenizers and removes old ones, but only once the new ones are complete.
void save_tokenizers(const ModelDirectory& directory, const Tokenizers& tokenizers);

}  // namespace attend
