// The tasks of giving each text, or each pair of texts, a label.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/metrics/scores.h"
#include "attend/train/answer_task.h"

namespace attend {
namespace {

class LabelJudge : public AnswerJudge {
 public:
  LabelJudge(const RunConfig& config, const Corpus& corpus)
      : AnswerJudge(config, corpus), metric_(name_of(config.validation.metric)) {}

 protected:
  class Measured : public Measurement {
   public:
    explicit Measured(std::string_view metric) : metric_(metric) {}
    void add(const TextModel& model, const Batch& batch) override {
      const Tensor logits = model.classifier().label_logits(batch);
      const int32_t first = model.tokenizer("label").first_piece();
      const auto labels = batch["label"].values.index_span();
      for (size_t i = 0; i < labels.size(); ++i) {
        const auto row = logits.slice_rows(i, 1).to_vector();
        const auto best = std::ranges::max_element(row) - row.begin();
        // A label that training never saw is one that no prediction meets.
        const bool known = labels[i] >= first;
        const size_t gold = known ? static_cast<size_t>(labels[i] - first) : row.size();
        confusion_.add(gold, static_cast<size_t>(best));
      }
    }
    double value() const override {
      return std::ranges::find(label_metrics(), metric_, &LabelMetric::name)->measure(confusion_);
    }

   private:
    std::string_view metric_;
    Confusion confusion_;
  };
  std::unique_ptr<Measurement> measurement() const override {
    return std::make_unique<Measured>(metric_);
  }

 private:
  std::string_view metric_;
};

class ClassifyTask : public AnswerTask {
 public:
  explicit ClassifyTask(bool pair)
      : AnswerTask(pair, {.column = "label",
                          .flag = "--label FILE",
                          .setting = "label",
                          .valid_setting = "valid_label",
                          .training = &DataConfig::label,
                          .validation = &DataConfig::valid_label}) {
    name = pair ? "classify_pairs" : "classify";
    summary = pair ? "give each pair of texts a label" : "give each text a label";
    columns.push_back({.name = "label", .kind = ColumnKind::kLabel, .written = true});
    objective = "label";
    metrics = {Metric::kLoss};
    for (const LabelMetric& metric : label_metrics()) metrics.push_back(metric_named(metric.name));
    command = "classify";
    flags = pair ? "--text FILE --pair FILE --label FILE" : "--text FILE --label FILE";
    valid_flags = pair ? "--valid-text FILE, --valid-pair FILE and --valid-label FILE, or "
                         "--data.held-out 0.05"
                       : "--valid-text FILE and --valid-label FILE, or --data.held-out 0.05";
    if (!pair) {
      settings.insert(settings.end(), {"source", "target", "valid_source", "valid_target"});
    }
  }

  // Labels were targets once: data.source and data.target of files of that time are read as well.
  // Without a file of labels, that of the text has both.
  bool has_text(const DataConfig& data, Split split) const override {
    if (has_pair()) return AnswerTask::has_text(data, split);
    if (split == Split::kValidation) return has_valid_text(data) || data.held_out > 0;
    const bool other = !data.pair.empty() || !data.tags.empty() || !data.number.empty();
    return (!data.text.empty() && !other) || !data.source.empty();
  }

  void check(const RunConfig& config, const Signature& signature) const override {
    if (has_pair()) return AnswerTask::check(config, signature);
    const DataConfig& data = config.data;
    const auto given = [](const auto& text, const auto& source, const char* what) {
      if (!text.empty() && !source.empty()) {
        throw ConfigError("train: data.text and data.source are both given{}; keep data.text",
                          what);
      }
    };
    check_held_out(data, has_valid_text(data), "data.valid_text");
    given(data.text, data.source, "");
    given(data.valid_text, data.valid_source, " for validation");
    const TextFiles& text = data.text.empty() ? data.source : data.text;
    const TextFiles& valid_text = data.valid_text.empty() ? data.valid_source : data.valid_text;
    const TextFiles& labels = label_files(data, Split::kTraining);
    const TextFiles& valid_labels = label_files(data, Split::kValidation);
    check_corpora({{"text", "text", text}, {"label", "label", labels}});
    check_weights(data, text.size());
    const bool in_one_file = labels.empty() && valid_labels.empty();
    if (has_valid_text(data) == valid_labels.empty() && !in_one_file) {
      throw ConfigError("train: validation needs both data.valid_text and data.valid_label");
    }
    check_corpora({{"text", "valid_text", valid_text}, {"label", "valid_label", valid_labels}});
  }

  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& corpus,
                               const Signature& /*signature*/,
                               const Tokenizers& /*tokenizers*/) const override {
    return std::make_unique<LabelJudge>(config, corpus);
  }

 protected:
  TextCorpora texts(const DataConfig& data, Split split) const override {
    if (has_pair()) return AnswerTask::texts(data, split);
    if (data.held_out > 0) split = Split::kTraining;
    const auto& text = split == Split::kTraining ? data.text : data.valid_text;
    const auto& old = split == Split::kTraining ? data.source : data.valid_source;
    const bool training = split == Split::kTraining;
    return corpora_of({{"text", training ? "text" : "valid_text", text.empty() ? old : text},
                       {"label", training ? "label" : "valid_label", label_files(data, split)}});
  }
  // A label is a whole line, and none is too rare to be one.
  std::optional<TokenizerConfig> answer_tokens(const VocabularyConfig& config) const override {
    return TokenizerConfig{.kind = config.target_kind.value_or(TokenizerKind::kLine),
                           .vocabulary = 0,
                           .lowercase = config.tokenizer.lowercase};
  }

 private:
  static bool has_valid_text(const DataConfig& data) {
    return !data.valid_text.empty() || !data.valid_source.empty();
  }
  static const TextFiles& label_files(const DataConfig& data, Split split) {
    if (split == Split::kTraining) return data.text.empty() ? data.target : data.label;
    return data.valid_text.empty() ? data.valid_target : data.valid_label;
  }
};

}  // namespace

std::unique_ptr<const Task> classify_task() { return std::make_unique<ClassifyTask>(false); }
std::unique_ptr<const Task> classify_pairs_task() { return std::make_unique<ClassifyTask>(true); }

}  // namespace attend
