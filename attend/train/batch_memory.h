// How large batches can be in a given memory. Not for use outside train/.
#pragma once

#include <cstdint>

#include "attend/base/storage.h"
#include "attend/data/corpus.h"
#include "attend/models/adapter.h"
#include "attend/train/run_config.h"
#include "attend/train/task.h"

namespace attend {

// While it lives, the pool keeps to so many bytes; 0: to no limit. From then on the process gives
// large blocks back to the system as soon as they are free.
class MemoryLimit {
 public:
  explicit MemoryLimit(size_t bytes);
  ~MemoryLimit() { limit_memory(SIZE_MAX); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

// The batch.tokens with which training takes at most config.memory: found by trial updates of a
// model of the same shape, on the batch with the most to write. Throws ConfigError where even a
// small batch takes more. `adapter`: what the run trains, or null for the model itself.
size_t tokens_within_memory(const RunConfig& config, const Task& task, const Corpus& corpus,
                            const Tokenizers& tokenizers, const AdapterDescription* adapter);

}  // namespace attend
