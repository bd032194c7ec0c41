// The tasks that pretrain an encoder on pieces of text: to tell what stands where tokens of a text,
// or of a pair of texts, are hidden, and to predict a text in both directions.
#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "attend/data/text_pieces.h"
#include "attend/train/document_task.h"

namespace attend {
namespace {

constexpr size_t kUsualPiece = 128;

class PiecesTask : public DocumentTask {
 public:
  PiecesTask() {
    columns = {{"text"}};
    label_smoothing = 0.0f;  // what is reported is the likelihood of the tokens
    metrics = {Metric::kLoss};
    records = "pieces";
    flags = "--text FILE";
    valid_flags = "--valid-text FILE, or --data.held-out 0.05";
    settings = {"text", "valid_text", "documents", "context", "held_out", "weights"};
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
    tokenizer.mask = masks_;
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

 protected:
  bool masks_ = false;  // whether the tokenizer has a mask token

 private:
  // Of all columns together, without their frames.
  static size_t longest_piece(const RunConfig& config, const Signature& signature) {
    const size_t wanted = config.data.context.value_or(kUsualPiece);
    const auto most =
        signature.joined ? signature.longest_together() : signature.columns.front().longest();
    return std::min(wanted, most.value_or(std::numeric_limits<size_t>::max()));
  }
};

class MaskedTask : public PiecesTask {
 public:
  explicit MaskedTask(bool pair) {
    name = pair ? "masked_pairs" : "masked";
    summary = pair ? "tell hidden tokens of two texts, and whether they belong together"
                   : "tell hidden tokens of a text";
    if (pair) columns.push_back({"pair"});
    objective = "masked_tokens";
    command = "fill";
    if (pair) records = "pairs";
    masks_ = true;
  }

  void check(const RunConfig& config, const Signature& signature) const override {
    PiecesTask::check(config, signature);
    config.masking.check();
  }
};

class BidirectionalTask : public PiecesTask {
 public:
  BidirectionalTask() {
    name = "bidirectional_language_model";
    summary = "predict a text in both directions";
    objective = "both_directions";
    command = "embed";
  }
};

}  // namespace

std::unique_ptr<const Task> masked_task() { return std::make_unique<MaskedTask>(false); }
std::unique_ptr<const Task> masked_pairs_task() { return std::make_unique<MaskedTask>(true); }
std::unique_ptr<const Task> bidirectional_language_model_task() {
  return std::make_unique<BidirectionalTask>();
}

}  // namespace attend
