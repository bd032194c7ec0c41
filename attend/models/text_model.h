// A model with its tokenizers: raw text in, raw text out; and the directory it lives in.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "attend/io/model_directory.h"
#include "attend/models/model.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct TextModel {
  ModelConfig config;
  std::shared_ptr<Seq2Seq> model;
  std::shared_ptr<const Tokenizer> source, target;  // one and the same where they are joint

  // Throws Error, naming the file that is missing or wrong.
  static TextModel load(const std::filesystem::path& root);

  // config.json and the tokenizers; the weights.
  static TextModel load_description(const ModelDirectory& directory);
  void save_description(const ModelDirectory& directory) const;
  void save_weights(const std::filesystem::path& file) const;
};

// The architecture of a model directory. Throws IoError where it is none.
ModelConfig load_model_config(const ModelDirectory& directory);

struct Tokenizers {
  std::shared_ptr<const Tokenizer> source, target;
};
// Those of a model directory; none where it has none.
Tokenizers load_tokenizers(const ModelDirectory& directory);
void save_tokenizers(const ModelDirectory& directory, const Tokenizers& tokenizers);

}  // namespace attend
