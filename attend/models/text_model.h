// A model with its tokenizers: raw text in, raw text out; and the directory it lives in.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "attend/base/limits.h"
#include "attend/io/model_directory.h"
#include "attend/models/model.h"
#include "attend/text/tokenizer.h"

namespace attend {

// A layer and a head that look at the source.
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
  std::shared_ptr<Seq2Seq> model;
  std::shared_ptr<const Tokenizer> source, target;    // one and the same where they are joint
  std::optional<AlignmentPlace> best_alignment = {};  // where it was looked for

  // Throws Error, naming the file that is missing or wrong.
  static TextModel load(const std::filesystem::path& root);

  // config.json and the tokenizers; the weights.
  static TextModel load_description(const ModelDirectory& directory);
  void save_description(const ModelDirectory& directory) const;
  void save_weights(const std::filesystem::path& file) const;
  void save_best_alignment(const ModelDirectory& directory) const;
};

// The architecture of a model directory. Throws IoError where it is none.
ModelConfig load_model_config(const ModelDirectory& directory);

struct Tokenizers {
  std::shared_ptr<const Tokenizer> source, target;
};
// Those of a model directory; none where it has none. FormatError where it has one for both sides
// and two.
Tokenizers load_tokenizers(const ModelDirectory& directory);
// In place of those that are there, which are removed only when the new ones are whole.
void save_tokenizers(const ModelDirectory& directory, const Tokenizers& tokenizers);

}  // namespace attend
