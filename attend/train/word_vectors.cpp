// The task of learning a vector for each word of a text, from the words around it.
#include <fmt/format.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/train/choices.h"
#include "attend/train/task.h"

namespace attend {
namespace {

// Words of an update. The fewer different words there are, the more often each occurs in it, and
// all its steps are added up: with ten words, updates of a thousand diverge.
size_t usual_update(size_t distinct_words) {
  constexpr size_t kOccurrences = 4, kFewest = 100, kMost = 1000;
  return std::clamp(kOccurrences * distinct_words, kFewest, kMost);
}

// Five are usual for large texts; a small one has to be read more often until neighbours differ.
double usual_epochs(double words) { return std::clamp(5e6 / words, 5.0, 25.0); }

// Text is read as that of a language model is: documents, cut into windows of a context.
class WordVectorsTask : public Task {
 public:
  WordVectorsTask() : documents_(language_model_task()) {
    name = "word_vectors";
    summary = "a vector for each word";
    columns = {{"text"}};
    objective = "word_context";
    label_smoothing = 0.0f;
    metrics = {Metric::kLoss};
    command = "neighbours";
    records = "windows";
    flags = documents_->flags;
    valid_flags = documents_->valid_flags;
    settings = documents_->settings;
  }

  bool has_text(const DataConfig& data, Split split) const override {
    return documents_->has_text(data, split);
  }
  void check(const RunConfig& config, const Signature& signature) const override {
    documents_->check(config, signature);
  }
  void check_text(const RunConfig& config, Split split, bool all) const override {
    documents_->check_text(config, split, all);
  }
  bool same_text(const DataConfig& a, const DataConfig& b) const override {
    return documents_->same_text(a, b);
  }
  TextProfile profile(const RunConfig& config) const override {
    return documents_->profile(config);
  }
  std::vector<std::string> limits(const RunConfig& config,
                                  const Signature& signature) const override {
    return documents_->limits(config, signature);
  }
  Tokenizers train_tokenizers(const RunConfig& config) const override {
    return documents_->train_tokenizers(config);
  }
  std::unique_ptr<RecordSource> source(const RunConfig& config, const Signature& signature,
                                       const Tokenizers& tokenizers, Split split) const override {
    return documents_->source(config, signature, tokenizers, split);
  }
  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& /*corpus*/,
                               const Signature& /*signature*/,
                               const Tokenizers& /*tokenizers*/) const override {
    throw ConfigError("train: no way to measure {} of word vectors",
                      name_of(config.validation.metric));
  }

  // Many small updates at a rate that falls to nothing, as word vectors are usually trained. Large
  // updates would move frequent words too far: all their steps of an update are added up.
  std::vector<std::string> choose(RunConfig& config, const GivenSettings& given,
                                  const TextProfile& profile) const override {
    constexpr size_t kLargeText = 1'000'000;  // words
    const auto free = [&given](std::string_view path) { return !given.has(path); };
    const double words = std::max(1.0, profile.all(profile.columns[0].words));
    TokenizerConfig& tokenizer = config.vocabulary.tokenizer;
    if (free("vocabulary.kind")) tokenizer.kind = TokenizerKind::kWord;
    const bool of_words = tokenizer.kind == TokenizerKind::kWord;
    if (of_words) {
      if (free("vocabulary.vocabulary")) tokenizer.vocabulary = 0;
      if (free("vocabulary.minimum_count")) tokenizer.minimum_count = words < kLargeText ? 2 : 5;
      if (free("vocabulary.lowercase")) tokenizer.lowercase = true;
    }
    OptimizerConfig& optimizer = config.optimizer;
    if (free("optimizer.kind")) optimizer.kind = OptimizerKind::kSgd;
    if (free("optimizer.rate") && optimizer.kind == OptimizerKind::kSgd) optimizer.rate = 0.025;
    if (free("optimizer.clip_norm")) optimizer.clip_norm = 0;
    // A loss that is finite has gradients that are: a slope is at most 1.
    if (free("optimizer.check_finite")) optimizer.check_finite = false;
    if (free("schedule.kind")) config.schedule.kind = ScheduleKind::kLinear;
    if (free("schedule.warmup")) config.schedule.warmup = 0;
    if (free("batch.tokens") && config.memory.bytes == 0) {
      config.batch.tokens = usual_update(profile.columns[0].distinct_words);
    }
    // An update has at least one window.
    if (free("data.context")) config.data.context = std::min<size_t>(1000, config.batch.tokens);
    const double batches = std::ceil(words / static_cast<double>(config.batch.tokens));
    if (free("training.steps")) {
      config.training.steps = static_cast<int64_t>(std::max(100.0, usual_epochs(words) * batches));
    }
    const int64_t steps = config.training.steps;
    if (free("training.report_every")) {
      config.training.report_every = std::max<int64_t>(1, steps / 100);
    }
    if (free("training.save_every")) {
      config.training.save_every = std::max<int64_t>(1, steps / 4);
    }
    if (has_text(config.data, Split::kValidation)) {
      if (free("validation.every")) config.validation.every = std::max<int64_t>(1, steps / 5);
    }
    return {
        fmt::format(
            "tokens: {}{}. Flags: --vocabulary.kind, --vocabulary.minimum-count",
            of_words ? "words" : name_of(tokenizer.kind),
            of_words ? fmt::format(" that occur {} times or more", tokenizer.minimum_count) : ""),
        fmt::format("training: {} steps of {} tokens ({:.1f} epochs), rate {} falling to 0. "
                    "Flags: --steps, --batch.tokens, --optimizer.rate",
                    steps, config.batch.tokens, static_cast<double>(steps) / batches,
                    optimizer.rate)};
  }

 private:
  std::unique_ptr<const Task> documents_;
};

}  // namespace

std::unique_ptr<const Task> word_vectors_task() { return std::make_unique<WordVectorsTask>(); }

}  // namespace attend
