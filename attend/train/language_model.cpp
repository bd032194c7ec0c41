// The task of continuing a text: documents, cut into windows of a context.
#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "attend/data/windows.h"
#include "attend/train/document_task.h"

namespace attend {
namespace {

constexpr size_t kUsualContext = 256;

class LanguageModelTask : public DocumentTask {
 public:
  LanguageModelTask() {
    name = "language_model";
    summary = "continue a text";
    columns = {{.name = "text", .written = true}};
    objective = "teacher_forcing";
    label_smoothing = 0.0f;  // what is reported is the likelihood of the text
    metrics = {Metric::kLoss};
    command = "generate";
    records = "windows";
    flags = "--text FILE";
    valid_flags = "--valid-text FILE, or --data.held-out 0.05";
    settings = {"text",    "valid_text", "documents", "context",
                "overlap", "shift",      "held_out",  "weights"};
  }

  void check(const RunConfig& config, const Signature& signature) const override {
    DocumentTask::check(config, signature);
    if (config.vocabulary.tokenizer.kind == TokenizerKind::kWordpiece) {
      throw ConfigError(
          "train: vocabulary.kind wordpiece loses white space and accents, and a language model "
          "writes the text as it is; choose byte_bpe, bpe or unigram");
    }
    const size_t overlap = config.data.overlap;
    if (const size_t context = context_of(config, signature); overlap >= context) {
      throw ConfigError("train: data.overlap is {}; it must be smaller than the context, {} tokens",
                        overlap, context);
    }
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
    TokenizerConfig tokenizer = config.vocabulary.tokenizer;
    tokenizer.lossless = true;
    return {{"text", tokenizer_of_documents(config, tokenizer)}};
  }

  std::unique_ptr<RecordSource> source(const RunConfig& config, const Signature& signature,
                                       const Tokenizers& tokenizers, Split split) const override {
    const size_t context = context_of(config, signature);
    return std::make_unique<WindowRecords>(
        "text", files(config.data, split), encoder_of(tokenizers.at("text")),
        WindowConfig{.context = context, .overlap = config.data.overlap});
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
