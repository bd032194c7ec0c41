#include "attend/train/validation.h"

#include <cmath>

#include "attend/base/hash.h"
#include "attend/data/plan.h"
#include "attend/decode/search.h"
#include "attend/tensor/tape.h"

namespace attend {

Validator::Validator(const RunConfig& config, const Task& task, const Objective& objective,
                     const Corpus& corpus, const Signature& signature, const Tokenizers& tokenizers)
    : config_(config), objective_(objective), corpus_(corpus), signature_(signature) {
  if (config.validation.metric == Metric::kLoss) return;
  judge_ = task.judge(config, corpus, signature, tokenizers);
}

std::optional<ValidationScore> Validator::operator()(const TextModel& model,
                                                     const std::atomic<bool>& stop) const try {
  const NoGrad no_grad;
  ValidationScore result;
  result.loss = loss(model, stop);
  result.perplexity = std::exp(result.loss);
  result.score = result.loss;
  if (judge_) {
    result.score = (*judge_)(model, stop);
    result.value = result.score;
  }
  return result;
} catch (const Stopped&) {
  return std::nullopt;
}

uint64_t Validator::fingerprint() const {
  Hash hash;
  hash.add(name_of(config_.validation.metric));
  hash.add("\n");
  if (judge_) {
    judge_->add_to(hash);
  } else {
    hash.add(std::to_string(corpus_.spec()));
    hash.add("\n");
    hash.add(config_.training.objective.name);
  }
  return hash.value();
}

double Validator::loss(const TextModel& model, const std::atomic<bool>& stop) const {
  BatchConfig in_order = config_.batch;
  in_order.shuffle = false;
  BatchStream stream(corpus_, in_order, {}, config_.training.shards);
  double sum = 0, count = 0;
  for (size_t i = 0; i < stream.batches_per_epoch(); ++i) {
    if (stop) throw Stopped();
    const Batch batch = training_batch(stream.next(), signature_, model.tokenizers);
    const Loss part = objective_.loss(*model.model, batch, {.tokenizers = model.tokenizers});
    sum += double{part.sum.item()};
    count += part.count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace attend
