#include "attend/train/run_tokenizers.h"

#include <fmt/format.h>

#include <utility>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/hash.h"
#include "attend/data/pairs.h"
#include "attend/io/config.h"

namespace attend {
namespace {

std::filesystem::path note_of(const ModelDirectory& directory) {
  return directory.root / ".trained";
}

std::string line_of(uint64_t fingerprint) { return fmt::format("{:016x}\n", fingerprint); }

// The tokenizers that are there: those that a run trained, or those of the user's own.
std::vector<std::filesystem::path> tokenizers_there(const ModelDirectory& directory, bool trained) {
  const bool noted = std::filesystem::exists(note_of(directory));
  const std::string note = noted ? file_contents(note_of(directory)) : "";
  std::vector<std::filesystem::path> found;
  for (const char* side : {"", "source", "target"}) {
    const std::filesystem::path file = directory.tokenizer(side);
    if (!std::filesystem::exists(file)) continue;
    const std::string line = line_of(hash_of(file_contents(file)));
    if ((note.find(line) != std::string::npos) == trained) found.push_back(file);
  }
  return found;
}

void remove_trained(const ModelDirectory& directory) {
  for (const auto& file : tokenizers_there(directory, true)) std::filesystem::remove(file);
}

// A run that had no checkpoint may have been asked for others.
bool asked_for(const RunConfig& config, const ModelDirectory& directory) {
  if (!std::filesystem::exists(directory.training())) return true;
  RunConfig before;
  read_config(before, directory.training());
  return same_config(before.vocabulary, config.vocabulary) &&
         before.data.source == config.data.source && before.data.target == config.data.target;
}

// Trained on both sides together, or on each by itself.
Tokenizers train_tokenizers(const RunConfig& config) {
  const auto train = [&](const TokenizerConfig& tokenizer, bool sources, bool targets) {
    PairReader reader({config.data.source, config.data.target});
    bool target_next = false;
    return train_tokenizer(tokenizer, [&]() -> std::optional<std::string_view> {
      if (std::exchange(target_next, false)) return reader.target();
      if (!reader.next()) return std::nullopt;
      target_next = sources && targets;
      return sources ? reader.source() : reader.target();
    });
  };
  const TokenizerConfig& source = config.vocabulary.tokenizer;
  if (config.vocabulary.one()) {
    const auto joint = train(source, true, true);
    return {joint, joint};
  }
  TokenizerConfig target = source;
  target.kind = config.vocabulary.target_kind.value_or(source.kind);
  return {train(source, true, false), train(target, false, true)};
}

}  // namespace

RunTokenizers tokenizers_of(const RunConfig& config, const ModelDirectory& directory,
                            bool resumed) {
  if (!resumed && !asked_for(config, directory)) {
    // They stay until others are saved in their place: the run may yet be refused.
    if (tokenizers_there(directory, false).empty()) return {train_tokenizers(config), true};
    remove_trained(directory);
  }
  const Tokenizers found = load_tokenizers(directory);
  if (found.source != nullptr) return {found};
  remove_trained(directory);  // one side, where saving was cut short
  if (std::filesystem::exists(directory.tokenizer("target"))) {
    throw ConfigError(
        "{}: it has tokenizer.target.model but no tokenizer.source.model; put that beside it, or "
        "remove the other",
        directory.root.string());
  }
  return {train_tokenizers(config), true};
}

void note_trained(const ModelDirectory& directory, const Tokenizers& tokenizers) {
  replace_file(note_of(directory), line_of(tokenizers.source->fingerprint()) +
                                       line_of(tokenizers.target->fingerprint()));
}

void copy_tokenizers(const ModelDirectory& from, const ModelDirectory& to) {
  const auto copy = [](const std::filesystem::path& file, const std::filesystem::path& place) {
    if (std::filesystem::exists(file)) std::filesystem::copy_file(file, place);
  };
  copy(from.training(), to.training());
  copy(note_of(from), note_of(to));
  for (const char* side : {"", "source", "target"}) copy(from.tokenizer(side), to.tokenizer(side));
}

}  // namespace attend
