// The task of writing one sequence from another: translation, and whatever else has that shape.
#include <limits>

#include "attend/base/error.h"
#include "attend/data/reference_texts.h"
#include "attend/decode/translator.h"
#include "attend/io/config.h"
#include "attend/metrics/bleu.h"
#include "attend/metrics/chrf.h"
#include "attend/metrics/error_rate.h"
#include "attend/train/line_task.h"

namespace attend {
namespace {

// The sum of measure(hypothesis, references) over all texts.
template <typename Stats, typename Measure>
Stats sum_texts(std::span<const std::string> hypotheses, const ReferenceTexts& texts,
                const Measure& measure) {
  Stats sum;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<std::string_view> right;
    for (const std::string& target : texts.targets[i]) right.push_back(target);
    sum += measure(hypotheses[i], right);
  }
  return sum;
}

double measure(const ValidationConfig& config, std::span<const std::string> hypotheses,
               const ReferenceTexts& texts) {
  if (config.metric == Metric::kBleu) {
    const BleuOptions options{.lower_case = config.lowercase};
    const auto one = [&](const auto& text, const auto& right) {
      return bleu_stats(text, right, options);
    };
    return bleu_score(sum_texts<BleuStats>(hypotheses, texts, one), options).score;
  }
  if (config.metric == Metric::kChrf) {
    const ChrfOptions options{.lower_case = config.lowercase};
    const auto one = [&](const auto& text, const auto& right) {
      return chrf_stats(text, right, options);
    };
    return chrf_score(sum_texts<ChrfStats>(hypotheses, texts, one), options);
  }
  const auto one = [](const auto& text, const auto& right) { return error_stats(text, right); };
  const ErrorStats errors = sum_texts<ErrorStats>(hypotheses, texts, one);
  return config.metric == Metric::kAccuracy ? sequence_accuracy(errors) : error_rate(errors);
}

// Translates the text of validation and compares it with its references.
class TranslationJudge : public Judge {
 public:
  TranslationJudge(const RunConfig& config, const TextCorpora& corpora, HeldOut held_out,
                   const ColumnSpec& source, const Tokenizer& tokenizer)
      : config_(config) {
    CorporaReader reader(corpora, kLongestLine, held_out);
    const LineLimit limit = line_limit(source, 0);
    const size_t sentences = config.validation.sentences;
    const size_t most = sentences > 0 ? sentences : std::numeric_limits<size_t>::max();
    std::vector<std::string> sources, targets;
    while (sources.size() < most && reader.next()) {
      if (limit.tokens > 0 && !limit.allows(tokenizer.encode(reader.text(0)).size())) {
        ++left_out_;
        continue;
      }
      sources.emplace_back(reader.text(0));
      targets.emplace_back(reader.text(1));
    }
    texts_ = reference_texts(sources, targets, config.validation.grouped);
  }

  double operator()(const TextModel& model, const std::atomic<bool>& stop) const override {
    TranslatorConfig config{.search = config_.search, .batch_tokens = config_.batch.tokens};
    config.stop = &stop;
    const Translator translate({model}, config);
    std::vector<std::string> texts;
    for (const Translation& t : translate(texts_.sources)) texts.push_back(t.texts.front());
    return measure(config_.validation, texts, texts_);
  }

  void add_to(Hash& hash) const override {
    const auto add = [&hash](std::string_view text) {
      hash.add(text);
      hash.add("\n");
    };
    add(config_.validation.lowercase ? "lowercase" : "");
    for (const Difference& d : differences(SearchConfig(), config_.search)) {
      add(d.path + " " + d.after);
    }
    for (size_t i = 0; i < texts_.sources.size(); ++i) {
      add("");
      add(texts_.sources[i]);
      for (const std::string& target : texts_.targets[i]) add(target);
    }
  }

  size_t left_out() const override { return left_out_; }

 private:
  const RunConfig& config_;
  ReferenceTexts texts_;
  size_t left_out_ = 0;
};

class TranslateTask : public LineTask {
 public:
  TranslateTask() {
    name = "translate";
    summary = "write a sequence for each sequence that is read";
    columns = {{"source"}, {.name = "target", .written = true}};
    objective = "teacher_forcing";
    metrics = {Metric::kLoss, Metric::kBleu, Metric::kChrf, Metric::kAccuracy, Metric::kErrorRate};
    command = "translate";
    records = "pairs";
    flags = "--source FILE --target FILE";
    valid_flags = "--valid-source FILE and --valid-target FILE, or --data.held-out 0.05";
    settings = {"source",  "target",   "valid_source", "valid_target",
                "longest", "held_out", "weights"};
  }

  bool has_text(const DataConfig& data, Split split) const override {
    if (split == Split::kTraining) return !data.source.empty();
    return !data.valid_source.empty() || data.held_out > 0;
  }

  void check(const RunConfig& config, const Signature& /*signature*/) const override {
    const DataConfig& data = config.data;
    check_held_out(data, !data.valid_source.empty(), "data.valid_source");
    const bool in_one_file = data.target.empty() && data.valid_target.empty();
    if (data.valid_source.empty() != data.valid_target.empty() && !in_one_file) {
      throw ConfigError("train: validation needs both data.valid_source and data.valid_target");
    }
    check_corpora({{"source", "source", data.source}, {"target", "target", data.target}});
    check_corpora({{"source", "valid_source", data.valid_source},
                   {"target", "valid_target", data.valid_target}});
    check_weights(data, data.source.size());
    if (config.validation.metric != Metric::kLoss) config.search.check();
  }

  Tokenizers train_tokenizers(const RunConfig& config) const override {
    const TextCorpora text = texts(config.data, Split::kTraining);
    const HeldOut kept = part_of(config.data, Split::kTraining);
    const TokenizerConfig& source = config.vocabulary.tokenizer;
    if (config.vocabulary.one()) {
      const auto joint = train_on_columns(source, text, kept, {0, 1});
      return {{"source", joint}, {"target", joint}};
    }
    TokenizerConfig target = source;
    target.kind = config.vocabulary.target_kind.value_or(source.kind);
    return {{"source", train_on_columns(source, text, kept, {0})},
            {"target", train_on_columns(target, text, kept, {1})}};
  }

  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& /*corpus*/,
                               const Signature& signature,
                               const Tokenizers& tokenizers) const override {
    return std::make_unique<TranslationJudge>(config, texts(config.data, Split::kValidation),
                                              part_of(config.data, Split::kValidation),
                                              signature.column("source"), *tokenizers.at("source"));
  }

 protected:
  TextCorpora texts(const DataConfig& data, Split split) const override {
    const bool training = split == Split::kTraining || data.held_out > 0;
    if (training) {
      return corpora_of({{"source", "source", data.source}, {"target", "target", data.target}});
    }
    return corpora_of({{"source", "valid_source", data.valid_source},
                       {"target", "valid_target", data.valid_target}});
  }
  std::string_view second_flag() const override { return "--target FILE"; }
};

}  // namespace

std::unique_ptr<const Task> translate_task() { return std::make_unique<TranslateTask>(); }

}  // namespace attend
