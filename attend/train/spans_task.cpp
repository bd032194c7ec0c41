// The task of writing spans that were taken out of a text, by which an encoder-decoder is
// pretrained on plain text.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/text_pieces.h"
#include "attend/train/document_task.h"
#include "attend/train/span_corruption.h"

namespace attend {
namespace {

class SpansTask : public DocumentTask {
 public:
  SpansTask() {
    name = "span_corruption";
    summary = "write the spans that were taken out of a text";
    columns = {{"source"}, {.name = "target", .written = true}};
    objective = "span_corruption";
    label_smoothing = 0.0f;  // what is reported is the likelihood of the tokens
    metrics = {Metric::kLoss};
    command = "translate";
    records = "pieces";
    flags = "--text FILE";
    valid_flags = "--valid-text FILE, or --data.held-out 0.05";
    settings = {"text", "valid_text", "documents", "context", "held_out", "weights"};
  }

  bool has_text(const DataConfig& data, Split split) const override {
    return data.source.empty() && DocumentTask::has_text(data, split);
  }

  void check(const RunConfig& config, const Signature& signature) const override {
    DocumentTask::check(config, signature);
    config.spans.check();
    if (config.vocabulary.tokenizer.kind == TokenizerKind::kWordpiece) {
      throw ConfigError(
          "train: vocabulary.kind wordpiece loses white space and accents, and spans are written "
          "as "
          "they are in the text; choose byte_bpe, bpe or unigram");
    }
    if (objective_of(config, *this) != objective) {
      throw ConfigError(
          "train: training.objective {} does not fit plain text and this model; leave it out, "
          "which "
          "pretrains by {}, or give --source and --target",
          config.training.objective.name, objective);
    }
  }

  // The vocabulary has as many sentinels as its pieces need.
  bool same_text(const DataConfig& a, const DataConfig& b) const override {
    return DocumentTask::same_text(a, b) && a.context == b.context;
  }

  std::vector<std::string> limits(const RunConfig& config,
                                  const Signature& signature) const override {
    const size_t longest = longest_text(config, signature);
    if (longest >= config.data.context.value_or(longest)) return {};
    return {fmt::format("pieces of {} tokens, not {}: the model has no more positions", longest,
                        *config.data.context)};
  }

  // One for both sides, with a sentinel for each span of the longest text.
  Tokenizers train_tokenizers(const RunConfig& config) const override {
    TokenizerConfig tokenizer = config.vocabulary.tokenizer;
    const Signature signature = signature_of(config.model);
    tokenizer.sentinels =
        std::max(tokenizer.sentinels, spans_of(longest_text(config, signature), config.spans));
    const auto made = tokenizer_of_documents(config, tokenizer);
    return {{"source", made}, {"target", made}};
  }

  std::unique_ptr<RecordSource> source(const RunConfig& config, const Signature& signature,
                                       const Tokenizers& tokenizers, Split split) const override {
    return std::make_unique<TextPieces>(std::vector<std::string>{"source"},
                                        files(config.data, split),
                                        encoder_of(tokenizers.at("source")),
                                        PieceConfig{.longest = longest_text(config, signature)});
  }
};

}  // namespace

std::unique_ptr<const Task> spans_task() { return std::make_unique<SpansTask>(); }

}  // namespace attend
