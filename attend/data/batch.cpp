#include "attend/data/batch.h"

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"

namespace attend {
namespace {

// Sequences end to end, from what `append(i, ids)` appends for each.
template <typename Append>
Batch pack(size_t count, const BatchOptions& options, const Append& append) {
  Batch batch;
  std::vector<int32_t> source_lengths, target_lengths;
  source_lengths.reserve(count);
  target_lengths.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t source = batch.source.size(), target = batch.target.size();
    batch.lines.push_back(append(i, batch));
    if (options.end_sources) batch.source.push_back(kEnd);
    source_lengths.push_back(static_cast<int32_t>(batch.source.size() - source));
    target_lengths.push_back(static_cast<int32_t>(batch.target.size() - target + 1));
  }
  batch.sources = Packing(source_lengths);
  batch.targets = Packing(target_lengths);
  return batch;
}

}  // namespace

std::vector<int32_t> Batch::with(Place place) const {
  std::vector<int32_t> ids;
  ids.reserve(targets.rows());
  auto next = target.begin();
  for (size_t i = 0; i < targets.count(); ++i) {
    const auto end = next + (static_cast<ptrdiff_t>(targets.length(i)) - 1);
    if (place == kFront) ids.push_back(kStart);
    ids.insert(ids.end(), next, end);
    if (place == kBack) ids.push_back(kEnd);
    next = end;
  }
  return ids;
}

Batch make_batch(const Corpus& corpus, std::span<const uint32_t> pairs,
                 const BatchOptions& options) {
  return pack(pairs.size(), options, [&](size_t i, Batch& batch) {
    corpus.append_source(pairs[i], batch.source);
    corpus.append_target(pairs[i], batch.target);
    return corpus.line(pairs[i]);
  });
}

Batch make_batch(std::span<const std::vector<int32_t>> sources,
                 std::span<const std::vector<int32_t>> targets, const BatchOptions& options) {
  if (!targets.empty() && targets.size() != sources.size()) {
    throw DataError("batch: {} sources but {} targets", sources.size(), targets.size());
  }
  return pack(sources.size(), options, [&](size_t i, Batch& batch) {
    batch.source.insert(batch.source.end(), sources[i].begin(), sources[i].end());
    if (!targets.empty()) {
      batch.target.insert(batch.target.end(), targets[i].begin(), targets[i].end());
    }
    return i + 1;
  });
}

}  // namespace attend
