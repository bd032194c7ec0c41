// The task of giving each text a label.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/tensor/tape.h"
#include "attend/train/line_task.h"
#include "attend/train/objective.h"

namespace attend {
namespace {

// How many texts of validation get their label.
class LabelJudge : public Judge {
 public:
  LabelJudge(const RunConfig& config, const Corpus& corpus) : config_(config), corpus_(corpus) {
    const size_t sentences = config.validation.sentences;
    count_ = sentences > 0 ? std::min(sentences, corpus.size()) : corpus.size();
  }

  double operator()(const TextModel& model, const std::atomic<bool>& stop) const override {
    const NoGrad no_grad;
    const Signature signature = model.model->signature();
    const int32_t first = model.tokenizer("label").first_piece();
    const RecordLengths lengths = corpus_.lengths();
    size_t right = 0;
    for (size_t begin = 0; begin < count_;) {
      if (stop) throw Stopped();
      std::vector<uint32_t> some;
      for (size_t rows = 0; begin < count_; ++begin) {
        rows += lengths.rows(begin);
        if (!some.empty() && rows > config_.batch.tokens) break;
        some.push_back(static_cast<uint32_t>(begin));
      }
      const Batch batch = training_batch(make_batch(corpus_, some), signature, model.tokenizers);
      const Tensor logits = model.classifier().label_logits(batch);
      const auto labels = batch["label"].values.index_span();
      for (size_t i = 0; i < some.size(); ++i) {
        const auto row = logits.slice_rows(i, 1).to_vector();
        const auto best = std::ranges::max_element(row) - row.begin();
        right += first + best == labels[i] ? 1 : 0;
      }
    }
    return 100.0 * static_cast<double>(right) / static_cast<double>(count_);
  }

  void add_to(Hash& hash) const override {
    const uint64_t parts[] = {corpus_.spec(), count_};
    hash.add({reinterpret_cast<const char*>(parts), sizeof parts});
  }

 private:
  const RunConfig& config_;
  const Corpus& corpus_;
  size_t count_;
};

class ClassifyTask : public LineTask {
 public:
  ClassifyTask() {
    name = "classify";
    summary = "give each text a label";
    columns = {{"text"}, {"label", ColumnKind::kLabel}};
    objective = "label";
    metrics = {Metric::kLoss, Metric::kAccuracy};
    command = "classify";
    records = "texts";
    flags = "--text FILE --label FILE";
    valid_flags = "--valid-text FILE and --valid-label FILE, or --data.held-out 0.05";
    settings = {"text",   "valid_text", "label",        "valid_label",  "longest",
                "source", "target",     "valid_source", "valid_target", "held_out"};
  }

  // Labels were targets once: data.source and data.target of files of that time are read as well.
  bool has_text(const DataConfig& data, Split split) const override {
    return split == Split::kTraining ? !data.text.empty() || !data.source.empty()
                                     : has_valid_text(data) || data.held_out > 0;
  }

  void check(const RunConfig& config, const Signature& /*signature*/) const override {
    const DataConfig& data = config.data;
    for (const auto* files : {&data.text, &data.valid_text}) {
      if (files->size() > 1) {
        throw ConfigError(
            "train: {} files of text; give one, because labels belong to the lines of one file",
            files->size());
      }
    }
    const auto given = [](const auto& text, const auto& source, const char* what) {
      if (!text.empty() && !source.empty()) {
        throw ConfigError("train: data.text and data.source are both given{}; keep data.text",
                          what);
      }
    };
    check_held_out(data, has_valid_text(data), "data.valid_text");
    given(data.text, data.source, "");
    given(data.valid_text, data.valid_source, " for validation");
    const bool in_one_file =
        label_file(data, Split::kTraining).empty() && label_file(data, Split::kValidation).empty();
    if (has_valid_text(data) == label_file(data, Split::kValidation).empty() && !in_one_file) {
      throw ConfigError("train: validation needs both data.valid_text and data.valid_label");
    }
  }

  // A label is a whole line, and none is too rare to be one.
  Tokenizers train_tokenizers(const RunConfig& config) const override {
    const std::vector<TextColumn> text = texts(config.data, Split::kTraining);
    const HeldOut kept = part_of(config.data, Split::kTraining);
    const TokenizerConfig label{
        .kind = config.vocabulary.target_kind.value_or(TokenizerKind::kLine),
        .vocabulary = 0,
        .lowercase = config.vocabulary.tokenizer.lowercase};
    return {{"text", train_on_columns(config.vocabulary.tokenizer, text, kept, {0})},
            {"label", train_on_columns(label, text, kept, {1})}};
  }

  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& corpus,
                               const Signature& /*signature*/,
                               const Tokenizers& /*tokenizers*/) const override {
    return std::make_unique<LabelJudge>(config, corpus);
  }

 protected:
  std::vector<TextColumn> texts(const DataConfig& data, Split split) const override {
    if (data.held_out > 0) split = Split::kTraining;
    const auto& text = split == Split::kTraining ? data.text : data.valid_text;
    const auto& old = split == Split::kTraining ? data.source : data.valid_source;
    return two_columns("text", "label", text.empty() ? old : text.front(), label_file(data, split));
  }
  std::string_view second_flag() const override { return "--label FILE"; }

 private:
  static bool has_valid_text(const DataConfig& data) {
    return !data.valid_text.empty() || !data.valid_source.empty();
  }
  static std::filesystem::path label_file(const DataConfig& data, Split split) {
    if (split == Split::kTraining) return data.text.empty() ? data.target : data.label;
    return data.valid_text.empty() ? data.valid_target : data.valid_label;
  }
};

}  // namespace

std::unique_ptr<const Task> classify_task() { return std::make_unique<ClassifyTask>(); }

}  // namespace attend
