// The task of giving each word of a text a tag.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/metrics/tags.h"
#include "attend/train/answer_task.h"

namespace attend {
namespace {

// The strictest schemes first: tags of spans that all have a B are those of IOB1 as well.
constexpr TagScheme kSchemes[] = {TagScheme::kIob2, TagScheme::kIobes, TagScheme::kIob1};

// A scheme that all tags of a column follow; kAny if there is none.
TagScheme scheme_of(const Corpus& corpus, std::string_view column, const Tokenizer& tokenizer) {
  const auto size = static_cast<int32_t>(tokenizer.size());
  std::vector<std::string> texts;
  for (int32_t id = tokenizer.first_piece(); id < size; ++id) {
    texts.push_back(tokenizer.decode(std::span(&id, 1)));
  }
  std::vector<SpanTag> tags;
  for (const std::string& text : texts) {
    const std::optional<SpanTag> tag = span_tag(text);
    if (!tag) return TagScheme::kAny;
    tags.push_back(*tag);
  }
  std::vector<TagScheme> possible(std::begin(kSchemes), std::end(kSchemes));
  const size_t number = corpus.column(column);
  std::vector<int32_t> ids;
  const auto tag_at = [&](size_t place) {
    const int32_t id = place < ids.size() ? ids[place] - tokenizer.first_piece() : -1;
    return id < 0 ? nullptr : &tags.at(static_cast<size_t>(id));
  };
  for (size_t record = 0; record < corpus.size() && !possible.empty(); ++record) {
    ids.clear();
    corpus.append(record, number, ids);
    std::erase_if(possible, [&](TagScheme scheme) {
      const SpanTag* before = nullptr;
      for (size_t place = 0; place <= ids.size(); ++place) {
        const SpanTag* const tag = tag_at(place);
        if (!may_follow(scheme, before, tag)) return true;
        before = tag;
      }
      return false;
    });
  }
  return possible.empty() ? TagScheme::kAny : possible.front();
}

class TagJudge : public AnswerJudge {
 public:
  using AnswerJudge::AnswerJudge;

 protected:
  // Of words.
  class Accuracy : public Measurement {
   public:
    void add(const TextModel& model, const Batch& batch) override {
      const DecodedTags decoded = model.tagger().decode_tags(batch);
      const int32_t first = model.tokenizer("tags").first_piece();
      const auto tags = batch["tags"].values.index_span();
      for (size_t i = 0; i < tags.size(); ++i) right_ += first + decoded.best[i] == tags[i] ? 1 : 0;
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
    fitted_settings = {"scheme"};
    command = "classify";
    flags = "--text FILE --tags FILE";
    valid_flags = "--valid-text FILE and --valid-tags FILE, or --data.held-out 0.05";
    by_words = true;
  }

  // Which tags may follow one another, unless that was set.
  std::vector<std::string> fit(ModelConfig& model, const Corpus& corpus,
                               const Tokenizers& tokenizers) const override {
    for (const Field& field : fields_of(model.settings).fields) {
      if (field.path != "scheme" || field.get()) continue;
      const TagScheme scheme = scheme_of(corpus, "tags", *tokenizers.at("tags"));
      field.set(std::vector{std::string(name_of(scheme))});
      if (scheme == TagScheme::kAny) return {};
      return {fmt::format(
          "tags: all follow {}, a scheme that the model will not break. Flag: --model.{}.scheme",
          name_of(scheme), model.kind.name)};
    }
    return {};
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
