#include "attend/train/validation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/hash.h"
#include "attend/data/plan.h"
#include "attend/decode/search.h"
#include "attend/tensor/tape.h"
#include "attend/train/update.h"

namespace attend {
namespace {

// Far from those of updates: an objective that samples draws the same at every validation.
RandomStream validation_stream(uint64_t seed, size_t batch) {
  return {seed + 1, (uint64_t{1} << 63) | batch};
}

// A model is not judged by labels that it cannot give.
void check_labels(const Corpus& corpus, const Signature& signature, const Tokenizers& tokenizers) {
  for (const ColumnSpec& spec : signature.columns) {
    const bool labels = spec.kind == ColumnKind::kLabel || spec.kind == ColumnKind::kLabels;
    if (!spec.written || !labels) continue;
    const size_t column = corpus.column(spec.name);
    const int32_t first = tokenizers.at(spec.name)->first_piece();
    std::vector<int32_t> ids;
    for (size_t record = 0; record < corpus.size(); ++record) corpus.append(record, column, ids);
    if (std::ranges::any_of(ids, [first](int32_t id) { return id >= first; })) continue;
    const std::string_view what = spec.kind == ColumnKind::kLabels ? "tags" : "labels";
    throw DataError(
        "train: none of the {} {} of the validation text occurs in the training text; give "
        "validation text with {} that occur there",
        ids.size(), what, what);
  }
}

}  // namespace

Validator::Validator(const RunConfig& config, const Task& task, const Objective& objective,
                     const Corpus& corpus, const Signature& signature, const Tokenizers& tokenizers)
    : config_(config), objective_(objective), corpus_(corpus), signature_(signature) {
  check_labels(corpus, signature, tokenizers);
  if (config.validation.metric == Metric::kLoss) return;
  judge_ = task.judge(config, corpus, signature, tokenizers);
}

std::optional<ValidationScore> Validator::operator()(const TextModel& model, int64_t step,
                                                     const std::atomic<bool>& stop) const try {
  const NoGrad no_grad;
  ValidationScore result;
  measure_loss(model, step, stop, result);
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

void Validator::measure_loss(const TextModel& model, int64_t step, const std::atomic<bool>& stop,
                             ValidationScore& score) const {
  BatchConfig in_order = config_.batch;
  in_order.shuffle = false;
  BatchStream stream(corpus_, in_order, {}, config_.training.shards);
  double sum = 0, count = 0;
  std::vector<LossPart> parts;
  for (size_t i = 0; i < stream.batches_per_epoch(); ++i) {
    if (stop) throw Stopped();
    const Batch batch = training_batch(stream.next(), signature_, model.tokenizers);
    const Loss part = objective_.loss(*model.model, batch,
                                      {.tokenizers = model.tokenizers,
                                       .step = step,
                                       .seed = config_.training.seed,
                                       .random = validation_stream(config_.training.seed, i)});
    sum += double{part.sum.item()};
    count += part.count;
    add_parts(part, parts);
  }
  score.loss = count > 0 ? sum / count : 0;
  score.perplexity = std::exp(score.loss);
  for (const LossPart& part : parts) {
    if (part.labels > 0) score.parts.push_back({part.name, std::exp(part.sum / part.labels)});
  }
}

}  // namespace attend
