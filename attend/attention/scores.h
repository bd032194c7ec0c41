// How a query and a key are compared. A score is one entry of the registry in scores.cpp, which
// reduces it to one of a few cores by projections and normalisations of whole rows, and states its
// traits. Layers and models accept or refuse a score by its traits; there is no other list of
// names.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/rng.h"
#include "attend/tensor/tensor.h"

namespace attend {

// The scores, by name.
enum class Score {
  kDot,        // q.k (Luong et al., 2015)
  kScaledDot,  // q.k / sqrt(width) (Vaswani et al., 2017)
  kGeneral,    // q W k (Luong et al., 2015)
  kAdditive,   // v.tanh(W q + U k) (Bahdanau et al., 2015)
  kConcat,     // v.tanh(W [q; k]) (Luong et al., 2015)
  kCosine,     // q.k / |q||k| (Graves et al., 2014)
  kDistance,   // -|q - k|^2
  kLocation,   // (W q)_j, from the query and the key's position alone (Luong et al., 2015)
};

std::string_view name_of(Score score);
// Every score there is.
std::span<const Score> all_scores();

// What a layer or a model must know before it accepts a score.
struct ScoreTraits {
  bool learned;     // has weights of its own (ScoreWeights)
  bool product;     // is a product q.k, so that Shaw's vectors can be added to keys
  bool rotary;      // depends on differences of positions only, after rotate()
  bool grouped;     // allows kv_heads below heads
  bool reads_keys;  // if not, it depends on the key's position alone: keys must be in order, and
                    // their largest number known in advance
  bool differentiable;  // passes gradients to queries, keys and its weights
  bool fused;           // has a fused kernel; the plain path keeps all scores in memory
};
const ScoreTraits& traits_of(Score score);  // throws ConfigError for an invalid value

// The names of the scores whose traits satisfy a condition, for messages: "dot, scaled_dot".
std::string scores_where(const std::function<bool(const ScoreTraits&)>& condition);

// The learned parts. They are applied to whole rows, before these are split into heads. Additive
// without W or U takes queries or keys that are already projected.
struct ScoreWeights {
  Tensor query;   // W: general [keys' width, queries' width], additive [a, queries' width],
                  // concat [a, queries' + keys' width], location [heads x places, queries' width]
  Tensor key;     // U: additive [a, keys' width]; a / heads x kv_heads where heads share keys
  Tensor vector;  // v: additive, concat [a]
  // Additive with features of each key (Chorowski et al., 2015), such as convolved weights of the
  // step before, or coverage: `v.tanh(W q + U k + L f)`.
  Tensor location;         // L [a, features]
  Tensor location_inputs;  // f [k rows, features]
};

// The sizes that the weights of a score depend on.
struct ScoreWeightSizes {
  size_t query_width, key_width;  // of whole rows
  size_t heads = 1, kv_heads = 1;
  size_t hidden = 0;        // a of one head, for additive and concat
  size_t longest_keys = 0;  // for a score that does not read keys
  bool projected = false;   // the layer has projected the rows to `hidden` columns a head: its
                            // projections are the W and U of additive, which has only v then
};
// New parameters for a learned score, none for others.
ScoreWeights make_score_weights(Score score, const ScoreWeightSizes& sizes, Rng& rng);

// A learned score whose rows are projected in advance, as in a decoder: keys once for all steps,
// queries step by step. `score` and `weights` are what remains to be computed.
struct ProjectedScore {
  Score score;
  ScoreWeights weights;
  Tensor query = {}, key = {};  // [out, in]; undefined: no projection
};
// query_width is that of queries before projection.
ProjectedScore projected_score(Score score, const ScoreWeights& weights, size_t query_width);

// What is computed for each pair of rows.
enum class ScoreCore { kDot, kAdditive, kDistance, kPlace };

// A score reduced to its core. Rows are not yet split; a head is a block of columns.
struct PreparedScore {
  ScoreCore core;
  Tensor q, k;    // k is undefined for kPlace
  Tensor vector;  // [heads x width], for kAdditive
  float scale;
};

// What prepare_score() takes; it throws Error if the weights do not fit. The rows of q and k have
// `heads` and `kv_heads` heads.
struct ScoreInputs {
  Score score;
  const ScoreWeights& weights;
  Tensor q, k;
  size_t heads, kv_heads;
  std::optional<float> scale;  // instead of the score's own
  // Applied to queries and keys before rows are projected or normalised, so that rows that no pair
  // reads do not reach the gradients of others. Empty: not applied.
  std::function<Tensor(const Tensor&)> read_queries = {}, read_keys = {};
};
// Reduces a score to its core.
PreparedScore prepare_score(const ScoreInputs& in);

// The core for one head: q [m, width], k [n, width] (kPlace: [m, places] and n) to scores [m, n].
Tensor core_scores(ScoreCore core, const Tensor& q, const Tensor& k, const Tensor& vector,
                   size_t keys);

// Whether no element is NaN or infinite.
bool all_finite(const Tensor& x);

}  // namespace attend
