#include "attend/train/validation.h"

#include <limits>

#include "attend/base/hash.h"
#include "attend/decode/line_limit.h"
#include "attend/io/config.h"
#include "attend/metrics/bleu.h"
#include "attend/metrics/chrf.h"
#include "attend/metrics/error_rate.h"
#include "attend/metrics/perplexity.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/trainer.h"

namespace attend {
namespace {

struct Stopped {};

void poll(const std::atomic<bool>& stop) {
  if (stop) throw Stopped();
}

// Looks at the stop in every step of a search.
class StopSearch : public SearchObserver {
 public:
  explicit StopSearch(const std::atomic<bool>& stop) : stop_(stop) {}
  void on_step(std::span<const Live> /*live*/, std::span<const Candidate> /*candidates*/,
               const std::vector<bool>& /*kept*/) override {
    poll(stop_);
  }

 private:
  const std::atomic<bool>& stop_;
};

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

}  // namespace

Validator::Validator(const RunConfig& config, const Corpus& corpus, const Tokenizer& source)
    : config_(config), corpus_(corpus) {
  if (config.validation.metric == Metric::kLoss) return;
  PairReader reader({config.data.valid_source, config.data.valid_target});
  const LineLimit limit = line_limit(config.model, 0);
  const size_t sentences = config.validation.sentences;
  const size_t most = sentences > 0 ? sentences : std::numeric_limits<size_t>::max();
  std::vector<std::string> sources, targets;
  while (sources.size() < most && reader.next()) {
    if (limit.tokens > 0 && !limit.allows(source.encode(reader.source()).size())) {
      ++left_out_;
      continue;
    }
    sources.emplace_back(reader.source());
    targets.emplace_back(reader.target());
  }
  texts_ = reference_texts(sources, targets, config.validation.grouped);
}

std::optional<ValidationScore> Validator::operator()(const TextModel& model,
                                                     const std::atomic<bool>& stop) const try {
  const NoGrad no_grad;
  ValidationScore result;
  result.loss = loss(*model.model, stop);
  result.perplexity = std::exp(result.loss);
  result.score = result.loss;
  if (config_.validation.metric != Metric::kLoss) {
    result.score = decoded(model, stop);
    result.value = result.score;
  }
  return result;
} catch (const Stopped&) {
  return std::nullopt;
}

uint64_t Validator::fingerprint() const {
  Hash hash;
  const auto add = [&hash](std::string_view text) {
    hash.add(text);
    hash.add("\n");
  };
  const ValidationConfig& validation = config_.validation;
  add(name_of(validation.metric));
  if (validation.metric == Metric::kLoss) {
    add(std::to_string(corpus_.spec()));
    return hash.value();
  }
  add(validation.lowercase ? "lowercase" : "");
  for (const Difference& d : differences(SearchConfig(), config_.search)) {
    add(d.path + " " + d.after);
  }
  for (size_t i = 0; i < texts_.sources.size(); ++i) {
    add("");
    add(texts_.sources[i]);
    for (const std::string& target : texts_.targets[i]) add(target);
  }
  return hash.value();
}

double Validator::loss(const Seq2Seq& model, const std::atomic<bool>& stop) const {
  BatchConfig in_order = config_.batch;
  in_order.shuffle = false;
  BatchStream stream(corpus_, in_order);
  LikelihoodStats stats;
  for (size_t i = 0; i < stream.batches_per_epoch(); ++i) {
    poll(stop);
    const TrainingBatch batch = training_batch(stream.next());
    const Tensor sum = cross_entropy(model.logits(batch.sources, batch.inputs), batch.labels,
                                     {.reduction = Reduction::kSum});
    stats += {-double{sum.item()}, batch.label_count()};
  }
  return nats_per_token(stats);
}

double Validator::decoded(const TextModel& model, const std::atomic<bool>& stop) const {
  StopSearch observer(stop);
  SearchConfig search = config_.search;
  search.observer = &observer;
  const Translator translate({model}, {search, config_.batch.tokens});
  std::vector<std::string> texts;
  for (const Translation& t : translate(texts_.sources)) texts.push_back(t.texts.front());
  return measure(config_.validation, texts, texts_);
}

}  // namespace attend
