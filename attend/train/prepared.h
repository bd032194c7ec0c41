// What a run is made of before its first step: texts that were checked, tokenizers, corpora,
// batches that fit the memory, the model. Not for use outside train/.
#pragma once

#include <memory>
#include <optional>

#include "attend/io/checkpoint.h"
#include "attend/models/adapter.h"
#include "attend/train/batch_memory.h"
#include "attend/train/run_tokenizers.h"
#include "attend/train/snapshots.h"
#include "attend/train/time_plan.h"
#include "attend/train/trainer.h"

namespace attend {

// A run that is resumed: one that has a checkpoint. What was refused before the first one does not
// matter.
struct Before {
  Checkpoint checkpoint;
  RunConfig config;
};

// The observer hears of checkpoints that are damaged, and skipped; IoError where all are.
std::optional<Before> run_before(const ModelDirectory& directory, const RunConfig& now,
                                 TrainingObserver& observer);

// Throws Error for a file that is missing, empty, or does not fit the others: before anything is
// made.
void check_texts(const RunConfig& config);

// Text files and tokenizers made into what a trainer needs, below one directory.
struct Prepared {
  MemoryLimit limit;
  RunConfig config;  // with the vocabularies, the size of batches and the warm-up known
  Signature signature;
  const Task& task;
  std::optional<BaseModel> base;  // until its weights are taken
  RunTokenizers tokenizers;
  Corpus corpus;
  std::optional<AdapterDescription> adapter;  // where that is what is trained
  TextModel model;
  std::unique_ptr<Objective> objective;
  std::optional<Corpus> valid;
  std::optional<Validator> validator;
  std::optional<Snapshots> snapshots;

  Prepared(const RunConfig& given, const ModelDirectory& directory,
           const std::optional<Before>& before, const TimeBudget& budget,
           TrainingObserver& observer);
  Prepared(const Prepared&) = delete;

 private:
  RunTokenizers made_tokenizers(const ModelDirectory& directory, bool resumed,
                                TrainingObserver& observer);
  Corpus made_corpus(const ModelDirectory& directory, bool resumed, TrainingObserver& observer);
  void fit_model(const std::optional<Before>& before, TrainingObserver& observer);
  TextModel made_model(const std::optional<Before>& before, const TimeBudget& budget,
                       TrainingObserver& observer);
  TransferReport take_weights(const TextModel& made) const;
  void describe_adapter(const std::optional<Before>& before);
  void set_warmup(const std::optional<Before>& before, TrainingObserver& observer);
  void try_objective() const;
  void prepare_validation(const ModelDirectory& directory, TrainingObserver& observer);
};

}  // namespace attend
