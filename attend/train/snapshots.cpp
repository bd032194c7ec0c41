#include "attend/train/snapshots.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "attend/data/windows.h"

namespace attend {
namespace {

// Windows of documents hold starts and ends, which a Trace adds by itself: they are left out, and
// so is what the model has no positions for then.
Tokens without_frame(const Tokens& windows, const SpecialTokens& special, size_t longest) {
  TokenLines bare;
  for (size_t i = 0; i < windows.count(); ++i) {
    std::span<const int32_t> ids = windows.sequence(i);
    if (!ids.empty() && ids.front() == special.start) ids = ids.subspan(1);
    if (!ids.empty() && ids.back() == special.end) ids = ids.first(ids.size() - 1);
    bare.add(ids.first(std::min(ids.size(), longest)));
  }
  return bare.tokens();
}

Batch first_records(const Corpus& corpus, size_t count, const TextModel& model) {
  std::vector<uint32_t> records(std::min(count, corpus.size()));
  std::iota(records.begin(), records.end(), 0u);
  const Batch stored = make_batch(corpus, records);
  Batch batch(records.size());
  for (const ColumnSpec& column : model.model->signature().columns) {
    if (corpus.has(context_column(column.name))) {
      const SpecialTokens special = model.tokenizer(column.name).special();
      const size_t longest = column.longest().value_or(std::numeric_limits<size_t>::max());
      batch.add(column.name, without_frame(stored.tokens(column.name), special, longest));
    } else {
      batch.add(column.name, stored[column.name]);
    }
  }
  return batch;
}

}  // namespace

Snapshots::Snapshots(const SnapshotsConfig& config, const Corpus& corpus, const TextModel& model,
                     ModelDirectory directory)
    : every_(config.every), directory_(std::move(directory)) {
  if (every_ == 0 || model.model->signature().layers.empty()) return;
  for (const ColumnSpec& column : model.model->signature().columns) {
    if (!corpus.has(column.name)) return;  // what is written is made anew in each epoch
  }
  sentences_ = traces_of(model, first_records(corpus, config.sentences, model));
}

void Snapshots::store(const TextModel& model, int64_t step) const {
  if (!sentences_.empty()) write_snapshot(directory_, step, model, sentences_);
}

}  // namespace attend
