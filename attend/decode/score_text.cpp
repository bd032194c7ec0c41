#include "attend/decode/score_text.h"

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"
#include "attend/decode/by_length.h"

namespace attend {

std::vector<ScoredText> score_text(const TextModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets, size_t batch_tokens) {
  if (sources.size() != targets.size()) {
    throw DataError("score: {} sources but {} targets", sources.size(), targets.size());
  }
  std::vector<ScoredText> all(sources.size());
  std::vector<std::vector<int32_t>> source_ids(sources.size());
  std::vector<size_t> lengths(sources.size());
  for (size_t i = 0; i < all.size(); ++i) {
    source_ids[i] = model.source->encode(sources[i]);
    source_ids[i].push_back(kEnd);
    all[i].tokens = model.target->encode(targets[i]);
    lengths[i] = source_ids[i].size() + all[i].tokens.size() + 1;
  }
  for (const std::vector<size_t>& batch : batches_by_length(lengths, batch_tokens)) {
    TokenLines some_sources, some_targets;
    for (const size_t i : batch) {
      some_sources.add(source_ids[i]);
      some_targets.add(all[i].tokens);
    }
    const std::vector<Scored> scored =
        score(*model.model, some_sources.tokens(), some_targets.tokens());
    for (size_t i = 0; i < batch.size(); ++i) all[batch[i]].scored = scored[i];
  }
  return all;
}

}  // namespace attend
