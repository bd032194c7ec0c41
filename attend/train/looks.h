// What a model looks at while it learns: maps of a few sentences, stored as training goes on.
#pragma once

#include "attend/data/corpus.h"
#include "attend/inspect/snapshot.h"
#include "attend/train/run_config.h"

namespace attend {

class Looks {
 public:
  // At the first sentences of a corpus.
  Looks(const LooksConfig& config, const Corpus& corpus, ModelDirectory directory);

  bool due(int64_t step) const { return every_ > 0 && step % every_ == 0; }
  void store(const TextModel& model, int64_t step) const;

 private:
  int64_t every_;
  ModelDirectory directory_;
  std::vector<Reading> sentences_;
};

}  // namespace attend
