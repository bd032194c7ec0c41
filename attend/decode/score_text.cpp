#include "attend/decode/score_text.h"

#include "attend/decode/text_pairs.h"

namespace attend {

std::vector<ScoredText> score_text(const TextModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets, size_t batch_tokens) {
  TextPairs pairs("score", model, sources, targets);
  std::vector<ScoredText> all(pairs.size());
  pairs.in_batches(batch_tokens, [&](std::span<const size_t> numbers, const Tokens& some_sources,
                                     const Tokens& some_targets) {
    std::vector<Scored> scored = score(*model.model, some_sources, some_targets);
    for (size_t i = 0; i < numbers.size(); ++i) all[numbers[i]].scored = std::move(scored[i]);
  });
  for (size_t i = 0; i < all.size(); ++i) all[i].tokens = std::move(pairs.targets[i]);
  return all;
}

}  // namespace attend
