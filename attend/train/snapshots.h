// Attention maps of a few sentences, stored during training. Not for use outside train/.
#pragma once

#include "attend/data/corpus.h"
#include "attend/inspect/snapshot.h"
#include "attend/train/run_config.h"

namespace attend {

class Snapshots {
 public:
  // Of the first records of a corpus.
  Snapshots(const SnapshotsConfig& config, const Corpus& corpus, const TextModel& model,
            ModelDirectory directory);

  bool due(int64_t step) const { return every_ > 0 && step % every_ == 0; }
  void store(const TextModel& model, int64_t step) const;

 private:
  int64_t every_;
  ModelDirectory directory_;
  std::vector<Trace> sentences_;
};

}  // namespace attend
