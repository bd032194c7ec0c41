// The tasks of telling what stands where tokens of a text, or of a pair of texts, are hidden.
#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "attend/data/text_pieces.h"
#include "attend/train/document_task.h"

namespace attend {
namespace {

constexpr size_t kUsualPiece = 128;

class MaskedTask : public DocumentTask {
 public:
  explicit MaskedTask(bool pair) {
    name = pair ? "masked_pairs" : "masked";
    summary = pair ? "tell hidden tokens of two texts, and whether they belong together"
                   : "tell hidden tokens of a text";
    columns = {{"text"}};
    if (pair) columns.push_back({"pair"});
    objective = "masked_tokens";
    label_smoothing = 0.0f;  // what is reported is the likelihood of the tokens
    metrics = {Metric::kLoss};
    command = "fill";
    records = pair ? "pairs" : "pieces";
    flags = "--text FILE";
    valid_flags = "--valid-text FILE, or --data.held-out 0.05";
    settings = {"text", "valid_text", "documents", "context", "held_out"};
  }

  void check(const RunConfig& config, const Signature& signature) const override {
    DocumentTask::check(config, signature);
    config.masking.check();
  }

  std::vector<std::string> limits(const RunConfig& config,
                                  const Signature& signature) const override {
    const size_t wanted = config.data.context.value_or(kUsualPiece);
    const size_t longest = longest_piece(config, signature);
    if (longest >= wanted) return {};
    return {fmt::format("pieces of {} tokens, not {}: the model has no more positions", longest,
                        wanted)};
  }

  Tokenizers train_tokenizers(const RunConfig& config) const override {
    TokenizerConfig tokenizer = config.vocabulary.tokenizer;
    tokenizer.mask = true;
    const auto made = tokenizer_of_documents(config, tokenizer);
    Tokenizers all;
    for (const TaskColumn& column : columns) all.emplace(column.name, made);
    return all;
  }

  std::unique_ptr<RecordSource> source(const RunConfig& config, const Signature& signature,
                                       const Tokenizers& tokenizers, Split split) const override {
    std::vector<std::string> names;
    for (const TaskColumn& column : columns) names.emplace_back(column.name);
    return std::make_unique<TextPieces>(names, files(config.data, split),
                                        encoder_of(tokenizers.at("text")),
                                        PieceConfig{.longest = longest_piece(config, signature)});
  }

 private:
  // Of all columns together, without their frames.
  static size_t longest_piece(const RunConfig& config, const Signature& signature) {
    const size_t wanted = config.data.context.value_or(kUsualPiece);
    const auto most =
        signature.joined ? signature.longest_together() : signature.columns.front().longest();
    return std::min(wanted, most.value_or(std::numeric_limits<size_t>::max()));
  }
};

}  // namespace

std::unique_ptr<const Task> masked_task() { return std::make_unique<MaskedTask>(false); }
std::unique_ptr<const Task> masked_pairs_task() { return std::make_unique<MaskedTask>(true); }

}  // namespace attend
