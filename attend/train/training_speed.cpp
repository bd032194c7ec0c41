#include "attend/train/training_speed.h"

#include <algorithm>

#include "attend/data/plan.h"
#include "attend/train/task.h"
#include "attend/train/training_trial.h"

namespace attend {
namespace {

// Whether the corpus has the ids of these tokenizers.
bool same_vocabularies(const Corpus& corpus, const Tokenizers& tokenizers,
                       const Signature& signature) {
  const auto sizes = vocabularies_of(tokenizers, signature);
  return std::ranges::all_of(signature.columns, [&](const ColumnSpec& column) {
    if (!corpus.has(column.name)) return false;
    const ColumnDescriptor& stored = corpus.columns()[corpus.column(column.name)];
    return column.kind != ColumnKind::kTokens || stored.vocabulary == sizes.at(column.name);
  });
}

}  // namespace

std::optional<TrainingSpeed> training_speed(const ModelDirectory& directory, double at_least) {
  const std::filesystem::path file = directory.root / "train.corpus";
  if (!std::filesystem::exists(file) || !std::filesystem::exists(directory.training())) {
    return std::nullopt;
  }
  RunConfig config;
  read_run_config(config, directory.training());
  if (config.lora.rank > 0) return std::nullopt;
  config.out = directory.root;
  config.model = load_model_config(directory);
  const Signature signature = signature_of(config.model);
  const Tokenizers tokenizers = load_tokenizers(directory, signature);
  const Corpus corpus(file);
  if (!same_vocabularies(corpus, tokenizers, signature)) return std::nullopt;
  TrainingTrial trial(config, task_of(config, signature), corpus, tokenizers);
  const size_t shards = config.training.shards;
  const BatchStream stream(corpus, config.batch, {}, shards);
  const size_t updates = std::max<size_t>(1, stream.batches_per_epoch() / shards);
  return TrainingSpeed{.tokens = corpus.lengths().rows_of_epoch() / static_cast<double>(updates),
                       .seconds = trial.seconds_of_step(at_least)};
}

}  // namespace attend
