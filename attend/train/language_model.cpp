// The task of continuing a text: documents, cut into windows of a context.
#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "attend/data/windows.h"
#include "attend/train/task.h"

namespace attend {
namespace {

constexpr size_t kUsualContext = 256;

class LanguageModelTask : public Task {
 public:
  LanguageModelTask() {
    name = "language_model";
    summary = "continue a text";
    columns = {{"text"}};
    objective = "teacher_forcing";
    label_smoothing = 0.0f;  // what is reported is the likelihood of the text
    metrics = {Metric::kLoss};
    command = "generate";
    records = "windows";
    flags = "--text FILE";
    valid_flags = "--valid-text FILE, or --data.held-out 0.05";
    settings = {"text", "valid_text", "documents", "context", "overlap", "shift", "held_out"};
  }

  bool has_text(const DataConfig& data, Split split) const override {
    if (split == Split::kTraining) return !data.text.empty() && data.label.empty();
    return !data.valid_text.empty() || data.held_out > 0;
  }

  void check(const RunConfig& config, const Signature& signature) const override {
    const DataConfig& data = config.data;
    if (config.vocabulary.tokenizer.kind == TokenizerKind::kLine) {
      throw ConfigError(
          "train: vocabulary.kind line is for labels: a document would be one token; choose bpe, "
          "unigram, character or byte");
    }
    check_held_out(data, !data.valid_text.empty(), "data.valid_text");
    if (const size_t context = context_of(config, signature); data.overlap >= context) {
      throw ConfigError("train: data.overlap is {}; it must be smaller than the context, {} tokens",
                        data.overlap, context);
    }
  }

  void check_text(const RunConfig& config, Split split, bool all) const override {
    DocumentReader reader(files(config.data, split));
    bool any = false;
    while ((!any || all) && reader.next()) {
      any |= reader.text().find_first_not_of(" \t\v\f\r\n") != std::string_view::npos;
    }
    if (any) return;
    check_held_out_left(config.data, split, config.data.text.front());
    throw DataError("train: no text in {}", reader.file());
  }

  bool same_text(const DataConfig& a, const DataConfig& b) const override {
    return a.text == b.text && a.documents == b.documents && a.held_out == b.held_out;
  }

  TextProfile profile(const RunConfig& config) const override {
    TextProfiler profiler({"text"});
    DocumentReader reader({.files = config.data.text});
    while (reader.next()) profiler.add({reader.text()});
    return profiler.profile();
  }

  std::vector<std::string> limits(const RunConfig& config,
                                  const Signature& signature) const override {
    const size_t context = context_of(config, signature);
    const size_t wanted = config.data.context.value_or(context);
    if (context == wanted) return {};
    return {fmt::format("a context of {} tokens, not {}: the model has no more positions", context,
                        wanted)};
  }

  Tokenizers train_tokenizers(const RunConfig& config) const override {
    DocumentReader reader(files(config.data, Split::kTraining));
    TokenizerConfig tokenizer = config.vocabulary.tokenizer;
    tokenizer.lossless = true;
    // Subwords are never made across the ends of lines.
    const bool subwords =
        tokenizer.kind == TokenizerKind::kBpe || tokenizer.kind == TokenizerKind::kUnigram;
    const auto next = [&]() -> std::optional<std::string_view> {
      if (!reader.next()) return std::nullopt;
      std::string_view text = reader.text();
      if (subwords && text.ends_with('\n')) text.remove_suffix(1);
      return text;
    };
    return {{"text", train_tokenizer(tokenizer, next)}};
  }

  std::unique_ptr<RecordSource> source(const RunConfig& config, const Signature& signature,
                                       const Tokenizers& tokenizers, Split split) const override {
    const size_t context = context_of(config, signature);
    return std::make_unique<WindowRecords>(
        "text", files(config.data, split), encoder_of(tokenizers.at("text")),
        WindowConfig{.context = context, .overlap = config.data.overlap});
  }

  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& /*corpus*/,
                               const Signature& /*signature*/,
                               const Tokenizers& /*tokenizers*/) const override {
    throw ConfigError("train: no way to measure {} of a language model",
                      name_of(config.validation.metric));
  }

 private:
  static DocumentFiles files(const DataConfig& data, Split split) {
    const bool other = split == Split::kValidation && !data.valid_text.empty();
    DocumentFiles found{.files = other ? data.valid_text : data.text, .documents = data.documents};
    if (other || data.held_out == 0) return found;
    found.held_out = data.held_out;
    found.part = split == Split::kTraining ? TextPart::kKept : TextPart::kHeldOut;
    return found;
  }
};

}  // namespace

// What is read of a window includes the document's start, which takes a position.
size_t context_of(const RunConfig& config, const Signature& signature) {
  const size_t positions =
      signature.column("text").positions.value_or(std::numeric_limits<size_t>::max());
  return std::min(config.data.context.value_or(kUsualContext), positions);
}

std::unique_ptr<const Task> language_model_task() { return std::make_unique<LanguageModelTask>(); }

}  // namespace attend
