// How a query and a key are compared. A score is one entry of the registry in scores.cpp, which
// reduces it to one of a few cores by projections and normalisations of whole rows.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "attend/tensor/tensor.h"

namespace attend {

enum class Score {
  kDot,        // q.k (Luong et al., 2015)
  kScaledDot,  // q.k / sqrt(width) (Vaswani et al., 2017)
  kGeneral,    // q W k (Luong et al., 2015)
  kAdditive,   // v.tanh(W q + U k) (Bahdanau et al., 2015)
  kConcat,     // v.tanh(W [q; k]) (Luong et al., 2015)
  kCosine,     // q.k / |q||k| (Graves et al., 2014)
  kDistance,   // -|q - k|^2
  kLocation,   // (W q)_j, from the query and the key's place alone (Luong et al., 2015)
};

Score score_from_name(std::string_view name);  // "scaled_dot"; ConfigError with the choices
std::string_view name_of(Score score);
std::span<const Score> all_scores();

// The learned parts. They are applied to whole rows, before these are cut into heads. Additive
// without W or U takes queries or keys that are projected already.
struct ScoreWeights {
  Tensor query;   // W: general [keys' width, queries' width], additive [a, queries' width],
                  // concat [a, queries' + keys' width], location [heads x places, queries' width]
  Tensor key;     // U: additive [a, keys' width]
  Tensor vector;  // v: additive, concat [a]
  // Additive with what is known of each key beside itself (Chorowski et al., 2015): convolved
  // weights of the step before, or coverage so far. v.tanh(W q + U k + L f)
  Tensor location;         // L [a, features]
  Tensor location_inputs;  // f [k rows, features]
};

// What the pairs of rows go through.
enum class ScoreCore { kDot, kAdditive, kDistance, kPlace };

// A score reduced to its core. Rows are still whole; a head is a block of columns.
struct PreparedScore {
  ScoreCore core;
  Tensor q, k;    // k is undefined for kPlace
  Tensor vector;  // [heads x width], for kAdditive
  float scale;
};

// heads and key_heads cut the rows of q and k. Throws Error where the weights do not fit.
struct ScoreInputs {
  Score score;
  const ScoreWeights& weights;
  Tensor q, k;
  size_t heads, kv_heads;
  std::optional<float> scale;  // instead of the score's own
  // What becomes of queries, and of keys, before whole rows are projected or normalised: rows that
  // no pair reads must not reach the gradients of the others. As they are where empty.
  std::function<Tensor(const Tensor&)> read_queries = {}, read_keys = {};
};
PreparedScore prepare_score(const ScoreInputs& in);

// The core for one head: q [m, width], k [n, width] (kPlace: [m, places] and n) to scores [m, n].
Tensor core_scores(ScoreCore core, const Tensor& q, const Tensor& k, const Tensor& vector,
                   size_t keys);

bool all_finite(const Tensor& x);

}  // namespace attend
