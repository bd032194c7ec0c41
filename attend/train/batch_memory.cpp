#include "attend/train/batch_memory.h"

#include <malloc.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "attend/train/trainer.h"

namespace attend {
namespace {

constexpr double kSpare = 0.1;        // for what other batches need beside those that were tried
constexpr size_t kSmallBatch = 1024;  // tokens

// Updates of a model that nobody keeps.
class Trial {
 public:
  Trial(const RunConfig& config, const Corpus& corpus)
      : config_(config),
        corpus_(corpus),
        before_(pool_statistics().bytes_in_use),
        model_(make_model(config.model, rng_)),
        parameters_(parameters(*model_)),
        optimizer_(parameters_, config.optimizer),
        objective_(objective_of(config.training)) {
    if (config.training.average > 0) average_.emplace(parameters_, config.training.average);
  }

  // Bytes in use at the most, in one update with batches of so many tokens.
  size_t peak(size_t tokens) {
    BatchConfig batch = config_.batch;
    batch.tokens = tokens;
    const BatchPlan plan(corpus_.lengths(), batch, 0);
    release_unused_memory();  // larger blocks would serve, and count
    reset_peak_bytes();
    const TrainingScope training(Rng(1, 0));
    backward(objective_sum(objective_, *model_, training_batch(largest(plan))));
    optimizer_.step();
    return pool_statistics().peak_bytes_in_use - before_;
  }

 private:
  // Logits are the most of it, so that targets count for more than sources.
  Batch largest(const BatchPlan& plan) const {
    size_t most = 0, found = 0;
    for (size_t i = 0; i < plan.size(); ++i) {
      size_t rows = 0;
      for (const uint32_t pair : plan[i]) rows += corpus_.lengths()[pair].target + 1;
      if (rows > most) most = rows, found = i;
    }
    return make_batch(corpus_, plan[found]);
  }

  const RunConfig& config_;
  const Corpus& corpus_;
  size_t before_;
  Rng rng_{1};
  std::unique_ptr<Seq2Seq> model_;
  std::vector<NamedTensor> parameters_;
  Optimizer optimizer_;
  Objective objective_;
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

size_t tokens_within_memory(const RunConfig& config, const Corpus& corpus) {
  const auto most = static_cast<double>(config.memory.bytes) * (1 - kSpare);
  size_t all = 0;  // tokens there are
  for (const PairLengths& pair : corpus.lengths()) all += pair.source + pair.target + 2;
  Trial trial(config, corpus);
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
  return static_cast<size_t>(tokens);
}

}  // namespace attend
