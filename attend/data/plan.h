// Which records go together, and when: each record once an epoch, or as often as its weight says,
// batches of like lengths, in an order that follows from (seed, epoch) and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attend/base/limits.h"
#include "attend/data/shifted_windows.h"

namespace attend {

struct BatchConfig {
  size_t tokens = 4096;  // of an update; each of its shards has an equal part
  size_t records = 0;
  bool shuffle = true;
  uint64_t seed = 1;

  template <typename V>
  void fields(V& v) {
    v("tokens", tokens, "tokens of an update at most, of all columns together", limits::kCount);
    v("records", records, "records of an update at most; 0: no limit", limits::kCount.or_0());
    v("shuffle", shuffle, "a new order every epoch; otherwise from short to long");
    v("seed", seed, "of the order", limits::kAny);
    v.old("pairs", records, limits::kCount.or_0());
  }
};

// The position of a run in its data: the next batch.
struct DataPosition {
  uint64_t epoch = 0, batch = 0;
  bool operator==(const DataPosition&) const = default;
};

// The records of an epoch, in order: each as often as the weight of its part says, one with a
// fraction now and then. Over all epochs every record of a part comes equally often.
std::vector<uint32_t> records_of_epoch(const RecordLengths& lengths, uint64_t seed, uint64_t epoch);

// The batches of one epoch, each a shard of an update. Every epoch has the same number of them,
// unless windows are shifted or a weight has a fraction; then nearly so.
class BatchPlan {
 public:
  // A record that exceeds the budget is a batch of its own. Throws ConfigError for a budget of 0
  // and DataError for more than 2^32 records, or more of them in an epoch.
  BatchPlan(const RecordLengths& lengths, const BatchConfig& config, uint64_t epoch,
            size_t shards = 1);

  size_t size() const { return batches_.size(); }            // batches
  std::span<const uint32_t> operator[](size_t batch) const;  // its records

 private:
  std::vector<uint32_t> order_;    // of records, by length
  std::vector<size_t> ends_;       // where each run of the order ends
  std::vector<uint32_t> batches_;  // the run that each batch is
};

// Batches in order, epoch after epoch, from any position on.
class BatchStream {
 public:
  // The corpus must outlive the stream. Throws DataError for a position past the end of its epoch.
  // With `windows` of the corpus, which must outlive the stream too, the records are the windows of
  // each epoch.
  BatchStream(const Corpus& corpus, const BatchConfig& config, DataPosition position = {},
              size_t shards = 1, const ShiftedWindows* windows = nullptr);

  Batch next();                                              // and moves on
  DataPosition position() const { return position_; }        // of the batch that next() gives
  size_t batches_per_epoch() const { return plan_.size(); }  // in this one

 private:
  BatchPlan planned();  // and shifts the windows

  const Corpus& corpus_;
  BatchConfig config_;
  size_t shards_;
  DataPosition position_;
  const ShiftedWindows* windows_;
  std::optional<ShiftedWindows::Epoch> shifted_;
  BatchPlan plan_;
};

}  // namespace attend
