#include "attend/models/placed_embedding.h"

#include <cmath>

#include "attend/base/names.h"
#include "attend/ops/dropout.h"

namespace attend {
namespace {

struct SchemeEntry {
  PositionScheme value;
  std::string_view name;
  Positions inside;  // what multi-head attention does for it; rows are added for the others
};
constexpr SchemeEntry kSchemes[] = {
    {PositionScheme::kNone, "none", Positions::kNone},
    {PositionScheme::kSinusoidal, "sinusoidal", Positions::kNone},
    {PositionScheme::kLearned, "learned", Positions::kNone},
    {PositionScheme::kAlibi, "alibi", Positions::kAlibi},
    {PositionScheme::kT5, "t5", Positions::kT5},
    {PositionScheme::kShaw, "shaw", Positions::kShaw},
    {PositionScheme::kRotary, "rotary", Positions::kRotary},
};

}  // namespace

std::string_view name_of(PositionScheme scheme) { return name_from_value(kSchemes, scheme); }

Positions attention_positions(PositionScheme scheme) {
  for (const SchemeEntry& entry : kSchemes) {
    if (entry.value == scheme) return entry.inside;
  }
  return Positions::kNone;
}

PlacedEmbedding::PlacedEmbedding(const PlacedEmbeddingConfig& c, Embedding shared, Rng& rng)
    : config(c), table(std::move(shared)) {
  const bool beside = c.concatenated > 0;
  const PositionsConfig positions{.width = beside ? c.concatenated : table.width(),
                                  .max_length = c.max_length,
                                  .mode = beside ? PositionMode::kConcat : PositionMode::kAdd};
  if (c.scheme == PositionScheme::kSinusoidal) sinusoids = SinusoidalPositions(positions);
  if (c.scheme == PositionScheme::kLearned) {
    learned = LearnedPositions(positions, rng, c.deviation);
  }
}

std::optional<size_t> PlacedEmbeddingConfig::positions() const {
  const bool ends = bounded || scheme == PositionScheme::kLearned;
  return ends ? std::optional(max_length) : std::nullopt;
}

PlacedEmbedding PlacedEmbedding::of(const Embedding& other, Rng& rng) const {
  PlacedEmbedding made = *this;  // its waves are shared
  made.table = other;
  if (config.scheme == PositionScheme::kLearned) {
    made.learned = LearnedPositions(learned.config, rng, config.deviation);
  }
  return made;
}

Tensor PlacedEmbedding::operator()(const Tensor& ids, const Packing& packing,
                                   std::span<const int32_t> first) const {
  Tensor x = table(ids, config.scaled ? std::sqrt(static_cast<float>(table.width())) : 1.0f);
  if (config.scheme == PositionScheme::kSinusoidal) x = sinusoids(x, packing, first);
  if (config.scheme == PositionScheme::kLearned) x = learned(x, packing, first);
  return dropout(x, config.dropout);
}

}  // namespace attend
