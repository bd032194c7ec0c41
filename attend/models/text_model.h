// A model with its tokenizers: raw text in, raw text out; and the directory it lives in.
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

// The tokenizer of each column that a model reads or writes, by its name. Several may be one and
// the same; that of labels has a token for each label.
using Tokenizers = std::map<std::string, std::shared_ptr<const Tokenizer>, std::less<>>;

// A layer and a head that look at what is read.
struct AlignmentPlace {
  std::string layer;
  std::optional<size_t> head;  // none: the mean of all

  template <typename V>
  void fields(V& v) {
    v("layer", layer, "attention layer");
    v("head", head, "head of it; none: the mean of all", limits::kHeads.or_0());
  }
};

struct TextModel {
  ModelConfig config;
  std::shared_ptr<Model> model;
  Tokenizers tokenizers;
  std::optional<AlignmentPlace> best_alignment = {};  // where it was looked for

  // Throws Error, naming the file that is missing or wrong.
  static TextModel load(const std::filesystem::path& root);

  // That of a sequence, or of "label". Throws ConfigError where it has none.
  const Tokenizer& tokenizer(std::string_view sequence) const;

  // The facets. Throw ConfigError that says what the model is, and which command is for it: "the
  // model writes no sequences: it is a label model; use `attend classify`".
  const Generator& generator() const;
  const Classifier& classifier() const;

  // The sequence that it writes, and the one that it reads first: none for a language model, which
  // reads what it writes. written() throws ConfigError where there is none.
  ColumnSpec written() const;
  std::optional<ColumnSpec> read() const;

  // What a model reads for some lines of ids, framed as it wants them.
  Batch inputs(std::span<const std::vector<int32_t>> lines) const;

  std::string label(size_t number) const;  // the text of a classifier's label

  // config.json and the tokenizers; the weights.
  static TextModel load_description(const ModelDirectory& directory);
  void save_description(const ModelDirectory& directory) const;
  void save_weights(const std::filesystem::path& file) const;
  void save_best_alignment(const ModelDirectory& directory) const;
};

// A tokenizer, as records are made with it.
TextEncoder encoder_of(const std::shared_ptr<const Tokenizer>& tokenizer);

// How many tokens, or labels, each column has that has a tokenizer.
ModelConfig::Vocabularies vocabularies_of(const Tokenizers& tokenizers, const Signature& signature);

// Throws ConfigError where columns that are one sequence have tokenizers of their own.
void check_tokenizers(const Tokenizers& tokenizers, const Signature& signature);

// The architecture of a model directory. Throws IoError where it is none.
ModelConfig load_model_config(const ModelDirectory& directory);

// Those of a model directory, by the names of its model's sequences; none where it has none.
// FormatError where it has one for all and one for a sequence as well.
Tokenizers load_tokenizers(const ModelDirectory& directory, const Signature& signature);
// In place of those that are there, which are removed only when the new ones are whole.
void save_tokenizers(const ModelDirectory& directory, const Tokenizers& tokenizers);

}  // namespace attend
