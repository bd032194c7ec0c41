#include "attend/data/plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/rng.h"

namespace attend {
namespace {

// Streams of random numbers far from those that models count up from 0.
RandomStream order_stream(uint64_t seed, uint64_t epoch, bool of_batches) {
  return {seed, (uint64_t{1} << 63) | (epoch << 1) | (of_batches ? 1 : 0)};
}

// Sorts by source, then by target, up and down in turn so that targets do not jump where the
// source gets longer.
uint64_t sort_key(PairLengths length) {
  const uint32_t target = length.source % 2 == 0 ? length.target : ~length.target;
  return (uint64_t{length.source} << 32) | target;
}

// Rows that a pair takes, with the end of each side.
size_t rows(PairLengths length) { return size_t{length.source} + length.target + 2; }

}  // namespace

BatchPlan::BatchPlan(std::span<const PairLengths> lengths, const BatchConfig& config,
                     uint64_t epoch) {
  if (config.tokens == 0) throw ConfigError("batches of 0 tokens; give a budget, such as 4096");
  if (lengths.size() > std::numeric_limits<uint32_t>::max()) {
    throw DataError("{} pairs; there can be {} at most", lengths.size(),
                    std::numeric_limits<uint32_t>::max());
  }
  order_.resize(lengths.size());
  if (config.shuffle) {
    fill_permutation(order_, order_stream(config.seed, epoch, false));
  } else {
    std::iota(order_.begin(), order_.end(), 0u);
  }
  std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return sort_key(lengths[a]) < sort_key(lengths[b]);
  });

  size_t begin = 0, tokens = 0;
  for (size_t i = 0; i < order_.size(); ++i) {
    const size_t size = rows(lengths[order_[i]]);
    const bool full = tokens + size > config.tokens || i - begin == config.pairs;
    if (i > begin && full) {
      ends_.push_back(i);
      begin = i;
      tokens = 0;
    }
    tokens += size;
  }
  if (!order_.empty()) ends_.push_back(order_.size());

  batches_.resize(ends_.size());
  if (config.shuffle) {
    fill_permutation(batches_, order_stream(config.seed, epoch, true));
  } else {
    std::iota(batches_.begin(), batches_.end(), 0u);
  }
}

std::span<const uint32_t> BatchPlan::operator[](size_t batch) const {
  const size_t run = batches_[batch], begin = run == 0 ? 0 : ends_[run - 1];
  return std::span(order_).subspan(begin, ends_[run] - begin);
}

BatchStream::BatchStream(const Corpus& corpus, const BatchConfig& config, DataPosition position,
                         const BatchOptions& options)
    : corpus_(corpus),
      config_(config),
      options_(options),
      position_(position),
      plan_(corpus.lengths(), config, position.epoch) {
  if (position_.batch >= plan_.size()) {
    throw DataError("batch {} of epoch {}, which has {}: the data or the size of batches changed",
                    position_.batch, position_.epoch, plan_.size());
  }
}

Batch BatchStream::next() {
  Batch batch = make_batch(corpus_, plan_[position_.batch], options_);
  if (++position_.batch == plan_.size()) {
    position_ = {position_.epoch + 1, 0};
    plan_ = BatchPlan(corpus_.lengths(), config_, position_.epoch);
  }
  return batch;
}

}  // namespace attend
