#include "attend/models/text_model.h"

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/special_tokens.h"
#include "attend/io/config.h"
#include "attend/io/safetensors.h"

namespace attend {
namespace {

Tokens encode(const Tokenizer& tokenizer, std::span<const std::string> lines, bool with_end) {
  std::vector<int32_t> ids, lengths;
  for (const std::string& line : lines) {
    const size_t before = ids.size();
    const std::vector<int32_t> encoded = tokenizer.encode(line);
    ids.insert(ids.end(), encoded.begin(), encoded.end());
    if (with_end) ids.push_back(kEnd);
    lengths.push_back(static_cast<int32_t>(ids.size() - before));
  }
  return {ids, Packing(lengths)};
}

}  // namespace

Tokenizers load_tokenizers(const ModelDirectory& directory) {
  if (std::filesystem::exists(directory.tokenizer())) {
    const auto joint = load_tokenizer(directory.tokenizer());
    return {joint, joint};
  }
  if (!std::filesystem::exists(directory.tokenizer("source"))) return {};
  return {load_tokenizer(directory.tokenizer("source")),
          load_tokenizer(directory.tokenizer("target"))};
}

void save_tokenizers(const ModelDirectory& directory, const Tokenizers& tokenizers) {
  if (tokenizers.source == tokenizers.target) return tokenizers.source->save(directory.tokenizer());
  tokenizers.target->save(directory.tokenizer("target"));
  tokenizers.source->save(directory.tokenizer("source"));
}

TextModel TextModel::load(const std::filesystem::path& root) {
  const ModelDirectory directory{root};
  if (!std::filesystem::exists(directory.config())) {
    throw IoError(
        "{}: not a model directory: it has no config.json; give the directory that `attend train` "
        "wrote",
        root.string());
  }
  TextModel loaded;
  read_config(loaded.config, directory.config());
  const Tokenizers tokenizers = load_tokenizers(directory);
  if (tokenizers.source == nullptr) throw IoError("{}: it has no tokenizer", root.string());
  loaded.source = tokenizers.source;
  loaded.target = tokenizers.target;
  Rng rng(0);
  loaded.model = make_model(loaded.config, rng);
  load_weights(directory.weights(), parameters(*loaded.model));
  return loaded;
}

void TextModel::save_description(const ModelDirectory& directory) const {
  replace_file(directory.config(), to_json(config) + "\n");
  save_tokenizers(directory, {source, target});
}

void TextModel::save_weights(const std::filesystem::path& file) const {
  write_safetensors(file, parameters(*model));
}

Tokens TextModel::sources(std::span<const std::string> lines) const {
  return encode(*source, lines, true);
}

Tokens TextModel::targets(std::span<const std::string> lines) const {
  return encode(*target, lines, false);
}

}  // namespace attend
