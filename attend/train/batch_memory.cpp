#include "attend/train/batch_memory.h"

#include <malloc.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/train/average.h"
#include "attend/train/objective.h"
#include "attend/train/parameter_groups.h"
#include "attend/train/update.h"

namespace attend {
namespace {

constexpr double kSpare = 0.1;        // for what other batches need beside those that were tried
constexpr size_t kSmallBatch = 1024;  // tokens of a shard

// Updates of a model that nobody keeps.
class MemoryTrial {
 public:
  MemoryTrial(const RunConfig& config, const Task& task, const Corpus& corpus,
              const Tokenizers& tokenizers, const AdapterDescription* adapter)
      : config_(config),
        corpus_(corpus),
        tokenizers_(tokenizers),
        before_(pool_statistics().bytes_in_use),
        model_(make_model(config.model, rng_)),
        signature_(model_->signature()),
        objective_(make_objective(config, task, signature_)),
        optimizer_(made_optimizer(adapter)) {
    for (const ColumnSpec& column : signature_.columns) {
      if (column.kind == ColumnKind::kTokens) {
        model_->read_words(column.name, *tokenizers.at(column.name));
      }
    }
    objective_->prepare(corpus, tokenizers);
    std::vector<NamedTensor> averaged = parameters(*model_);
    if (adapter != nullptr) {
      std::erase_if(averaged, [](const NamedTensor& p) { return !p.tensor.needs_grad(); });
    }
    if (config.training.average > 0) average_.emplace(averaged, config.training.average);
  }

  // Bytes in use at the most, in one update with shards of so many tokens.
  size_t peak(size_t tokens) {
    BatchConfig batch = config_.batch;
    batch.tokens = tokens;
    if (batch.records > 0)
      batch.records = std::max<size_t>(1, batch.records / config_.training.shards);
    const BatchPlan plan(corpus_.lengths(), batch, 0);
    const Batch largest = largest_batch(plan);
    release_unused_memory();  // larger blocks would serve, and count
    reset_peak_bytes();
    const UpdateNumber number{1, 0, config_.training.shards};
    const UpdateGradients gradients =
        update_gradients(optimizer_.parameters(), number, [&](size_t shard) {
          return objective_->loss(
              *model_, largest,
              {.tokenizers = tokenizers_, .random = number.objective(shard), .training = true});
        });
    optimizer_.step(gradients.gradients, gradients.rows, 1.0);
    return pool_statistics().peak_bytes_in_use - before_;
  }

 private:
  Optimizer made_optimizer(const AdapterDescription* adapter) {
    if (adapter != nullptr) start_adapter(*model_, *adapter, rng_);
    return Optimizer::of_groups(trained_groups(*model_, *objective_, config_.training),
                                config_.optimizer);
  }

  // Logits take the most memory, so that what is written counts before what is read.
  Batch largest_batch(const BatchPlan& plan) const {
    const RecordLengths lengths = corpus_.lengths();
    std::vector<size_t> written;
    for (const ColumnSpec& column : signature_.columns) {
      const bool tokens = column.kind == ColumnKind::kTokens;
      if (column.written && tokens && corpus_.has(column.name)) {
        written.push_back(corpus_.column(column.name));
      }
    }
    std::pair<size_t, size_t> most;  // rows that are written, and all
    size_t found = 0;
    for (size_t i = 0; i < plan.size(); ++i) {
      std::pair<size_t, size_t> rows;
      for (const uint32_t record : plan[i]) {
        for (const size_t column : written) rows.first += lengths[record][column] + 1;
        rows.second += lengths.rows(record);
      }
      if (rows > most) most = rows, found = i;
    }
    return training_batch(make_batch(corpus_, plan[found]), signature_, tokenizers_);
  }

  const RunConfig& config_;
  const Corpus& corpus_;
  const Tokenizers& tokenizers_;
  size_t before_;
  Rng rng_{1};
  std::unique_ptr<Model> model_;
  Signature signature_;
  std::unique_ptr<Objective> objective_;
  Optimizer optimizer_;
  std::optional<MovingAverage> average_;
};

}  // namespace

MemoryLimit::MemoryLimit(size_t bytes) {
  if (bytes == 0) return;
  limit_memory(bytes);
#ifdef M_MMAP_THRESHOLD
  // By default it grows to 32 MB, and what was freed below it stays with the process.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

size_t tokens_within_memory(const RunConfig& config, const Task& task, const Corpus& corpus,
                            const Tokenizers& tokenizers, const AdapterDescription* adapter) {
  const auto most = static_cast<double>(config.memory.bytes) * (1 - kSpare);
  size_t all = 0;  // rows there are
  const RecordLengths lengths = corpus.lengths();
  for (size_t i = 0; i < lengths.size(); ++i) all += lengths.rows(i);
  MemoryTrial trial(config, task, corpus, tokenizers, adapter);
  const auto one = static_cast<double>(trial.peak(kSmallBatch));
  const auto two = static_cast<double>(trial.peak(2 * kSmallBatch));
  if (one > most) {
    throw ConfigError(
        "train: memory {} is too little: batches of {} tokens take {} MB; allow more, or train a "
        "smaller model",
        detail::print_field(config.memory), kSmallBatch, static_cast<size_t>(one) >> 20);
  }
  // Memory grows along a line: what the model takes, and so much a token.
  const double slope = std::max((two - one) / kSmallBatch, 1.0);
  double tokens = std::min(kSmallBatch + (most - one) / slope, static_cast<double>(all));
  while (tokens > kSmallBatch) {
    const auto bytes = static_cast<double>(trial.peak(static_cast<size_t>(tokens)));
    if (bytes <= most) break;
    tokens = std::max<double>(kSmallBatch, tokens - 1.05 * (bytes - most) / slope);
  }
  return static_cast<size_t>(tokens) * config.training.shards;
}

}  // namespace attend
