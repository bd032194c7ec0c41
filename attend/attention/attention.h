// The one attention op. A mechanism is a combination of a score, a mask, biases and a weighting.
// Where the combination allows it, the op runs fused, in memory linear in the length. The result
// says which path was taken, and why.
#pragma once

#include <optional>
#include <string>

#include "attend/attention/mask.h"
#include "attend/attention/scores.h"
#include "attend/attention/weightings.h"

namespace attend {

// A bias of head h for a key at distance d ahead of the query's position: values[h, zero + d].
// ALiBi and T5's buckets are made in bias.h.
struct RelativeBias {
  Tensor values;  // [heads, distances], or undefined
  size_t zero = 0;
};

// Learned vectors for the distances -farthest .. farthest, clipped (Shaw et al., 2018), shared by
// all heads: added to keys in a product (dot, scaled dot, general) and to values when summing.
struct ShawPositions {
  Tensor keys;    // [2 farthest + 1, width], or undefined
  Tensor values;  // [2 farthest + 1, value width], or undefined
};

// How many queries and keys of each sequence came before those of a call, as in the steps of a
// decoder; empty: none.
struct EarlierRows {
  std::vector<int32_t> queries = {}, keys = {};
};

// The score is (softcap(scale s) + bias) / temperature; then pairs are masked, and the rest is
// weighted. All extents are checked; errors name the values.
struct AttentionOptions {
  size_t heads = 1;
  size_t kv_heads = 0;  // 0: as many as heads; head h reads key head h / (heads / kv_heads)
  std::optional<Packing> queries = {}, keys = {};  // none: all rows are one sequence

  std::vector<int32_t> key_lengths = {};  // how many rows of each key sequence are in use, as in a
                                          // cache; all where empty. The others are not read.

  Score score = Score::kScaledDot;
  ScoreWeights score_weights = {};
  std::optional<float> scale = {};  // 1 / sqrt(width) for scaled dot, 1 for others
  float softcap = 0.0f;             // cap tanh(s / cap), 0 for none
  Tensor bias = {};                 // shaped and broadcast like a PairMask (mask.h)
  RelativeBias relative = {};
  ShawPositions shaw = {};

  Mask mask = {};
  Weighting weighting = Weighting::kSoftmax;
  float temperature = 1.0f;
  size_t top_k = 8;                         // for kTopK
  std::optional<RandomStream> random = {};  // for kHardSample; in training the scope's by default
  Tensor sinks = {};     // [heads]: the score of a key that gives nothing; softmax only
  float dropout = 0.0f;  // of the weights, in training

  std::string name = {};     // the layer's name for a Recorder; empty: "attention"
  EarlierRows earlier = {};  // for a Recorder
  bool plain = false;        // takes the plain path even where the fused one is possible
};

// How the op was computed: fused, or plain, with all weights in memory.
enum class AttentionPath { kFused, kPlain };

// The result of attention().
struct Attended {
  Tensor output;           // [q rows, heads x value width]
  Tensor lse;              // [q rows, heads], off the tape; fused softmax only
  Tensor log_probability;  // [q rows, heads], of kHardSample
  AttentionPath path;
  std::string reason;  // why the plain path was taken
};

// q [q rows, heads x width], k [k rows, kv_heads x width], v [k rows, kv_heads x value width]. On
// the tape. Throws ShapeError for extents that do not fit, ConfigError for options that contradict
// each other.
Attended attention(const Tensor& q, const Tensor& k, const Tensor& v,
                   const AttentionOptions& options = {});

}  // namespace attend
