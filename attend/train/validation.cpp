#include "attend/train/validation.h"

#include "attend/metrics/bleu.h"
#include "attend/metrics/chrf.h"
#include "attend/metrics/error_rate.h"
#include "attend/metrics/perplexity.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/trainer.h"

namespace attend {
namespace {

double measure(Metric metric, bool lowercase, std::span<const std::string> hypotheses,
               std::span<const std::string> references) {
  const BleuOptions bleu{.lower_case = lowercase};
  const ChrfOptions chrf{.lower_case = lowercase};
  BleuStats bleu_sum;
  ChrfStats chrf_sum;
  ErrorStats errors;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const std::string_view one[] = {references[i]};
    if (metric == Metric::kBleu) bleu_sum += bleu_stats(hypotheses[i], one, bleu);
    if (metric == Metric::kChrf) chrf_sum += chrf_stats(hypotheses[i], one, chrf);
    if (metric == Metric::kAccuracy || metric == Metric::kErrorRate) {
      errors += error_stats(hypotheses[i], one);
    }
  }
  switch (metric) {
    case Metric::kBleu:
      return bleu_score(bleu_sum, bleu).score;
    case Metric::kChrf:
      return chrf_score(chrf_sum, chrf);
    case Metric::kAccuracy:
      return sequence_accuracy(errors);
    case Metric::kErrorRate:
      return error_rate(errors);
    case Metric::kLoss:
      break;
  }
  return 0;
}

}  // namespace

Validator::Validator(const RunConfig& config, const Corpus& corpus)
    : config_(config), corpus_(corpus) {
  if (config.validation.metric == Metric::kLoss) return;
  PairReader reader({config.data.valid_source, config.data.valid_target});
  while (sources_.size() < config.validation.sentences && reader.next()) {
    sources_.emplace_back(reader.source());
    references_.emplace_back(reader.target());
  }
}

ValidationScore Validator::operator()(const TextModel& model) const {
  const NoGrad no_grad;
  ValidationScore result;
  result.loss = loss(*model.model);
  result.perplexity = std::exp(result.loss);
  result.score = result.loss;
  if (config_.validation.metric != Metric::kLoss) {
    result.score = decoded(model);
    result.value = result.score;
  }
  return result;
}

double Validator::loss(const Seq2Seq& model) const {
  BatchConfig in_order = config_.batch;
  in_order.shuffle = false;
  BatchStream stream(corpus_, in_order);
  LikelihoodStats stats;
  for (size_t i = 0; i < stream.batches_per_epoch(); ++i) {
    const TrainingBatch batch = training_batch(stream.next());
    const Tensor sum = cross_entropy(model.logits(batch.sources, batch.inputs), batch.labels,
                                     {.reduction = Reduction::kSum});
    stats += {-double{sum.item()}, batch.label_count()};
  }
  return nats_per_token(stats);
}

double Validator::decoded(const TextModel& model) const {
  const Translator translate({model}, {config_.search, config_.batch.tokens});
  std::vector<std::string> texts;
  for (const Translation& t : translate(sources_)) texts.push_back(t.texts.front());
  return measure(config_.validation.metric, config_.validation.lowercase, texts, references_);
}

}  // namespace attend
