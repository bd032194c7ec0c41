// The task of giving each word of a text a tag.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/words.h"
#include "attend/train/answer_task.h"

namespace attend {
namespace {

class TagJudge : public AnswerJudge {
 public:
  using AnswerJudge::AnswerJudge;

 protected:
  // Of words.
  class Accuracy : public Measurement {
   public:
    void add(const TextModel& model, const Batch& batch) override {
      const Tensor scores = model.tagger().tag_scores(batch).values;
      const int32_t first = model.tokenizer("tags").first_piece();
      const auto tags = batch["tags"].values.index_span();
      for (size_t i = 0; i < tags.size(); ++i) {
        const auto row = scores.slice_rows(i, 1).to_vector();
        const auto best = std::ranges::max_element(row) - row.begin();
        right_ += first + best == tags[i] ? 1 : 0;
      }
      all_ += tags.size();
    }
    double value() const override {
      return 100.0 * static_cast<double>(right_) / static_cast<double>(all_);
    }

   private:
    size_t right_ = 0, all_ = 0;
  };
  std::unique_ptr<Measurement> measurement() const override { return std::make_unique<Accuracy>(); }
};

class TagTask : public AnswerTask {
 public:
  TagTask()
      : AnswerTask(false, {.column = "tags",
                           .flag = "--tags FILE",
                           .setting = "tags",
                           .valid_setting = "valid_tags",
                           .training = &DataConfig::tags,
                           .validation = &DataConfig::valid_tags}) {
    name = "tag";
    summary = "give each word of a text a tag";
    columns.push_back({.name = "tags", .kind = ColumnKind::kLabels, .written = true});
    objective = "tags";
    label_smoothing = 0.0f;
    metrics = {Metric::kLoss, Metric::kAccuracy};
    command = "classify";
    flags = "--text FILE --tags FILE";
    valid_flags = "--valid-text FILE and --valid-tags FILE, or --data.held-out 0.05";
    by_words = true;
  }

  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& corpus,
                               const Signature& /*signature*/,
                               const Tokenizers& /*tokenizers*/) const override {
    return std::make_unique<TagJudge>(config, corpus);
  }

 protected:
  std::optional<TokenizerConfig> answer_tokens(const VocabularyConfig& /*config*/) const override {
    return TokenizerConfig{.kind = TokenizerKind::kWord, .vocabulary = 0};
  }
};

}  // namespace

std::unique_ptr<const Task> tag_task() { return std::make_unique<TagTask>(); }

}  // namespace attend
