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

// The order in which records of a part take turns where its weight has a fraction.
RandomStream turn_stream(uint64_t seed, size_t part) { return {seed, (uint64_t{7} << 61) | part}; }

// Sorts by the first two sequences of a record, the second up and down in turn so that it does not
// jump where the first gets longer.
class SortKey {
 public:
  explicit SortKey(const RecordLengths& lengths) : lengths_(lengths) {
    for (size_t i = 0; i < lengths.columns.size(); ++i) {
      if (lengths.columns[i].sequence && columns_.size() < 2) columns_.push_back(i);
    }
  }

  uint64_t operator()(size_t record) const {
    const std::span<const uint32_t> items = lengths_[record];
    const uint32_t first = columns_.empty() ? 0 : items[columns_[0]];
    const uint32_t second = columns_.size() < 2 ? 0 : items[columns_[1]];
    return (uint64_t{first} << 32) | (first % 2 == 0 ? second : ~second);
  }

 private:
  const RecordLengths& lengths_;
  std::vector<size_t> columns_;
};

size_t part_of(size_t budget, size_t shards) { return std::max<size_t>(1, budget / shards); }

void check_count(double records) {
  constexpr auto kMost = std::numeric_limits<uint32_t>::max();
  if (records > double{kMost})
    throw DataError("{:.0f} records; there can be {} at most", records, kMost);
}

// Records begin .. end that have a turn in this epoch, a share of them: each epoch takes those that
// follow the ones of the epoch before in a random order, around and around.
void append_turns(size_t begin, size_t end, double share, RandomStream random, uint64_t epoch,
                  std::vector<uint32_t>& to) {
  const double each = share * static_cast<double>(end - begin);
  const auto from = static_cast<uint64_t>(each * static_cast<double>(epoch));
  const auto up_to = static_cast<uint64_t>(each * static_cast<double>(epoch + 1));
  std::vector<uint32_t> order(end - begin);
  fill_permutation(order, random);
  for (uint64_t i = from; i < up_to; ++i) {
    to.push_back(static_cast<uint32_t>(begin) + order[i % order.size()]);
  }
}

}  // namespace

std::vector<uint32_t> records_of_epoch(const RecordLengths& lengths, uint64_t seed,
                                       uint64_t epoch) {
  std::vector<uint32_t> records;
  const auto append = [&records](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) records.push_back(static_cast<uint32_t>(i));
  };
  check_count(static_cast<double>(lengths.size()));
  if (lengths.parts.empty()) append(0, lengths.size());
  double count = 0;
  size_t begin = 0;
  for (size_t part = 0; part < lengths.parts.size(); ++part) {
    const auto [end, weight] = lengths.parts[part];
    check_count(count += weight * static_cast<double>(end - begin));
    const auto whole = static_cast<size_t>(weight);
    for (size_t i = 0; i < whole; ++i) append(begin, end);
    const double share = weight - static_cast<double>(whole);
    if (share > 0 && end > begin) {
      append_turns(begin, end, share, turn_stream(seed, part), epoch, records);
    }
    begin = end;
  }
  return records;
}

BatchPlan::BatchPlan(const RecordLengths& lengths, const BatchConfig& config, uint64_t epoch,
                     size_t shards) {
  if (config.tokens == 0) throw ConfigError("batches of 0 tokens; give a budget, such as 4096");
  order_ = records_of_epoch(lengths, config.seed, epoch);
  if (config.shuffle) {
    std::vector<uint32_t> shuffled(order_.size());
    fill_permutation(shuffled, order_stream(config.seed, epoch, false));
    for (uint32_t& place : shuffled) place = order_[place];
    order_ = std::move(shuffled);
  }
  const SortKey key(lengths);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](uint32_t a, uint32_t b) { return key(a) < key(b); });

  const size_t most_tokens = part_of(config.tokens, shards);
  const size_t most_records = config.records == 0 ? 0 : part_of(config.records, shards);
  size_t begin = 0, tokens = 0;
  for (size_t i = 0; i < order_.size(); ++i) {
    const size_t size = lengths.rows(order_[i]);
    const bool full = tokens + size > most_tokens || i - begin == most_records;
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
                         size_t shards, const ShiftedWindows* windows)
    : corpus_(corpus),
      config_(config),
      shards_(shards),
      position_(position),
      windows_(windows),
      plan_(planned()) {
  if (position_.batch >= plan_.size()) {
    throw DataError("batch {} of epoch {}, which has {}: the data or the size of batches changed",
                    position_.batch, position_.epoch, plan_.size());
  }
}

BatchPlan BatchStream::planned() {
  if (windows_ != nullptr) shifted_ = windows_->epoch(config_.seed, position_.epoch);
  return {shifted_ ? shifted_->lengths() : corpus_.lengths(), config_, position_.epoch, shards_};
}

Batch BatchStream::next() {
  const std::span<const uint32_t> records = plan_[position_.batch];
  Batch batch = shifted_ ? shifted_->batch(records) : make_batch(corpus_, records);
  if (++position_.batch == plan_.size()) {
    position_ = {position_.epoch + 1, 0};
    plan_ = planned();
  }
  return batch;
}

}  // namespace attend
