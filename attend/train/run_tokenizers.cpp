#include "attend/train/run_tokenizers.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/hash.h"
#include "attend/io/config.h"

namespace attend {
namespace {

std::filesystem::path note_of(const ModelDirectory& directory) {
  return directory.root / ".trained";
}

std::string line_of(uint64_t fingerprint) { return fmt::format("{:016x}\n", fingerprint); }

// Every tokenizer of a directory, whatever column it is of.
std::vector<std::filesystem::path> tokenizer_files(const ModelDirectory& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory.root, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("tokenizer.") && name.ends_with(".model") && entry.is_regular_file()) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

// The tokenizers that are there: those that a run trained, or the user's own.
std::vector<std::filesystem::path> tokenizers_there(const ModelDirectory& directory, bool trained) {
  const bool noted = std::filesystem::exists(note_of(directory));
  const std::string note = noted ? file_contents(note_of(directory)) : "";
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& file : tokenizer_files(directory)) {
    const std::string line = line_of(hash_of(file_contents(file)));
    if ((note.find(line) != std::string::npos) == trained) found.push_back(file);
  }
  return found;
}

void remove_trained(const ModelDirectory& directory) {
  for (const auto& file : tokenizers_there(directory, true)) std::filesystem::remove(file);
}

// A run that had no checkpoint may have been asked for others.
bool asked_for(const RunConfig& config, const Task& task, const ModelDirectory& directory) {
  if (!std::filesystem::exists(directory.training())) return true;
  RunConfig before;
  read_run_config(before, directory.training());
  return same_config(before.vocabulary, config.vocabulary) &&
         task.same_text(before.data, config.data);
}

}  // namespace

RunTokenizers tokenizers_of(const RunConfig& config, const Task& task, const Signature& signature,
                            const ModelDirectory& directory, bool resumed) {
  if (!resumed && !asked_for(config, task, directory)) {
    // They stay until others are saved in their place: the run may yet be refused.
    if (tokenizers_there(directory, false).empty()) return {task.train_tokenizers(config), true};
    remove_trained(directory);
  }
  const Tokenizers found = load_tokenizers(directory, signature);
  const auto wanted = std::ranges::count_if(signature.columns, &ColumnSpec::has_tokenizer);
  if (found.size() == static_cast<size_t>(wanted)) return {found};
  remove_trained(directory);  // some of them, where saving was cut short
  const Tokenizers own = load_tokenizers(directory, signature);
  for (const ColumnSpec& column : signature.columns) {
    if (own.empty() || !column.has_tokenizer() || own.contains(column.name)) continue;
    throw ConfigError(
        "{}: it has tokenizer.{}.model but no tokenizer.{}.model; add that one, or "
        "remove the other",
        directory.root.string(), own.begin()->first, column.name);
  }
  return {task.train_tokenizers(config), true};
}

RunTokenizers tokenizers_from(const BaseModel& base, const RunConfig& config, const Task& task,
                              const Signature& signature, const ModelDirectory& directory) {
  const bool same = config.init_vocabulary == VocabularyTransfer::kSame;
  if (!same || !tokenizers_there(directory, false).empty()) {
    RunTokenizers own = tokenizers_of(config, task, signature, directory, false);
    if (same) check_same_vocabularies(base, own.by_column, signature);
    return own;
  }
  RunTokenizers made{.by_column = {}, .trained = true, .of_base = true};
  const Signature of_base = base.model().model->signature();
  bool all_text = true, labels = false;
  for (const ColumnSpec& column : signature.columns) {
    const ColumnSpec* const known = column_of_base(of_base, signature, column);
    if (column.kind != ColumnKind::kTokens) {
      labels = true;  // those of the data, which the base may never have seen
    } else if (known == nullptr) {
      all_text = false;
    } else {
      made.by_column[column.name] = base.model().tokenizers.at(known->name);
    }
  }
  if (all_text && !labels) return made;
  RunConfig others = config;
  // Text has its tokenizer already: one of bytes reads nothing.
  if (all_text) {
    const TokenizerKind label = config.vocabulary.target_kind.value_or(TokenizerKind::kLine);
    others.vocabulary.target_kind = label;
    others.vocabulary.tokenizer.kind = TokenizerKind::kByte;
  }
  for (auto& [column, tokenizer] : task.train_tokenizers(others)) {
    made.by_column.try_emplace(column, tokenizer);
  }
  return made;
}

void note_trained(const ModelDirectory& directory, const Tokenizers& tokenizers) {
  std::string note;
  for (const auto& [column, tokenizer] : tokenizers) note += line_of(tokenizer->fingerprint());
  replace_file(note_of(directory), note);
}

void copy_tokenizers(const ModelDirectory& from, const ModelDirectory& to) {
  const auto copy = [](const std::filesystem::path& file, const std::filesystem::path& place) {
    if (std::filesystem::exists(file)) std::filesystem::copy_file(file, place);
  };
  copy(from.training(), to.training());
  copy(note_of(from), note_of(to));
  for (const auto& file : tokenizer_files(from)) copy(file, to.root / file.filename());
}

}  // namespace attend
