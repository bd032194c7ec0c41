// How large batches can be in a given memory.
#pragma once

#include "attend/data/corpus.h"
#include "attend/train/run_config.h"

namespace attend {

// The batch.tokens with which training takes at most config.memory: found by trial updates of a
// model of the same shape, on the batch with the most to write. Throws ConfigError where even a
// small batch takes more.
size_t tokens_within_memory(const RunConfig& config, const Corpus& corpus);

}  // namespace attend
