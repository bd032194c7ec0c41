// Which pairs go together, and when: each pair once an epoch, batches of like lengths, in an order
// that follows from (seed, epoch) and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/limits.h"
#include "attend/data/batch.h"
#include "attend/data/corpus.h"

namespace attend {

struct BatchConfig {
  size_t tokens = 4096;
  size_t pairs = 0;
  bool shuffle = true;
  uint64_t seed = 1;

  template <typename V>
  void fields(V& v) {
    v("tokens", tokens, "rows of a batch at most, sources, targets and their ends counted",
      limits::kCount);
    v("pairs", pairs, "pairs of a batch at most; 0 is no limit", limits::kCount.or_0());
    v("shuffle", shuffle, "a new order every epoch; otherwise from short to long");
    v("seed", seed, "of the order", limits::kAny);
  }
};

// Where a run is in its data: the next batch.
struct DataPosition {
  uint64_t epoch = 0, batch = 0;
  bool operator==(const DataPosition&) const = default;
};

// The batches of one epoch. Their number is the same in every epoch.
class BatchPlan {
 public:
  // A pair that is larger than a batch may be is a batch of its own. Throws ConfigError for a
  // budget of 0 and DataError past 2^32 pairs.
  BatchPlan(std::span<const PairLengths> lengths, const BatchConfig& config, uint64_t epoch);

  size_t size() const { return batches_.size(); }
  std::span<const uint32_t> operator[](size_t batch) const;  // the pairs of it

 private:
  std::vector<uint32_t> order_;    // of pairs, by length
  std::vector<size_t> ends_;       // where each run of the order ends
  std::vector<uint32_t> batches_;  // the run that each batch is
};

// Batch after batch, epoch after epoch, from any position.
class BatchStream {
 public:
  // The corpus must outlive the stream. A position past the end of its epoch is a DataError.
  BatchStream(const Corpus& corpus, const BatchConfig& config, DataPosition position = {},
              const BatchOptions& options = {});

  Batch next();
  DataPosition position() const { return position_; }  // of what next() gives
  size_t batches_per_epoch() const { return plan_.size(); }

 private:
  const Corpus& corpus_;
  BatchConfig config_;
  BatchOptions options_;
  DataPosition position_;
  BatchPlan plan_;
};

}  // namespace attend
