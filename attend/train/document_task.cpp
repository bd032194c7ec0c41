#include "attend/train/document_task.h"

#include "attend/base/error.h"

namespace attend {

bool DocumentTask::has_text(const DataConfig& data, Split split) const {
  if (split == Split::kValidation) return !data.valid_text.empty() || data.held_out > 0;
  const bool answers = !data.label.empty() || !data.tags.empty() || !data.number.empty();
  return !data.text.empty() && data.pair.empty() && !answers;
}

void DocumentTask::check(const RunConfig& config, const Signature& /*signature*/) const {
  if (config.vocabulary.tokenizer.kind == TokenizerKind::kLine) {
    throw ConfigError(
        "train: vocabulary.kind line is for labels: a document would be one token; choose bpe, "
        "unigram, byte_bpe, character or byte");
  }
  check_held_out(config.data, !config.data.valid_text.empty(), "data.valid_text");
  check_weights(config.data, config.data.text.size());
}

void DocumentTask::check_text(const RunConfig& config, Split split, bool all) const {
  DocumentReader reader(files(config.data, split));
  bool any = false;
  while ((!any || all) && reader.next()) {
    any |= reader.text().find_first_not_of(" \t\v\f\r\n") != std::string_view::npos;
  }
  if (any) return;
  check_held_out_left(config.data, split, config.data.text.front());
  throw DataError("train: no text in {}", reader.file());
}

bool DocumentTask::same_text(const DataConfig& a, const DataConfig& b) const {
  return a.text == b.text && a.documents == b.documents && a.held_out == b.held_out;
}

TextProfile DocumentTask::profile(const RunConfig& config) const {
  TextProfiler profiler({"text"});
  DocumentReader reader({.files = config.data.text});
  double weights = 0;
  while (reader.next()) {
    profiler.add({reader.text()});
    weights += weight_of_corpus(config.data, reader.file_number());
  }
  TextProfile made = profiler.profile();
  made.set_records_of_epoch(weights);
  return made;
}

std::unique_ptr<Judge> DocumentTask::judge(const RunConfig& config, const Corpus& /*corpus*/,
                                           const Signature& /*signature*/,
                                           const Tokenizers& /*tokenizers*/) const {
  throw ConfigError("train: no way to measure {} of the task {}", name_of(config.validation.metric),
                    name);
}

DocumentFiles DocumentTask::files(const DataConfig& data, Split split) {
  const bool other = split == Split::kValidation && !data.valid_text.empty();
  DocumentFiles found{.files = other ? data.valid_text : data.text, .documents = data.documents};
  if (other || data.held_out == 0) return found;
  found.held_out = data.held_out;
  found.part = split == Split::kTraining ? TextPart::kKept : TextPart::kHeldOut;
  return found;
}

std::shared_ptr<const Tokenizer> DocumentTask::tokenizer_of_documents(
    const RunConfig& config, const TokenizerConfig& tokenizer) {
  DocumentReader reader(files(config.data, Split::kTraining));
  // SentencePiece makes no subwords across the ends of lines.
  const bool subwords =
      tokenizer.kind == TokenizerKind::kBpe || tokenizer.kind == TokenizerKind::kUnigram;
  const auto next = [&]() -> std::optional<std::string_view> {
    if (!reader.next()) return std::nullopt;
    std::string_view text = reader.text();
    if (subwords && text.ends_with('\n')) text.remove_suffix(1);
    return text;
  };
  return train_tokenizer(tokenizer, next);
}

}  // namespace attend
