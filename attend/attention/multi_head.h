// Multi-head attention (Vaswani et al., 2017) and its relatives: self or cross, multi-query and
// grouped-query, with any positions, score and weighting of the family.
#pragma once

#include <optional>
#include <string>

#include "attend/attention/attention.h"
#include "attend/attention/bias.h"
#include "attend/attention/cache.h"
#include "attend/attention/rotary.h"
#include "attend/nn/linear.h"
#include "attend/nn/norm.h"

namespace attend {

// How a layer knows positions.
enum class Positions { kNone, kAlibi, kT5, kShaw, kRotary };

std::string_view name_of(Positions positions);

struct MultiHeadConfig {
  size_t width = 0;                // of queries and of the output
  size_t source_width = 0;         // of keys' and values' input; 0: width
  size_t heads = 8, kv_heads = 0;  // 0: as many as heads
  size_t head_width = 0;           // of queries and keys; 0: width / heads
  size_t value_width = 0;          // of a head; 0: head_width
  bool bias = true;                // of the projections
  float dropout = 0.0f;            // of the weights

  Score score = Score::kScaledDot;
  size_t longest_keys = 0;  // for a score that does not read keys (location): how many it scores
  Weighting weighting = Weighting::kSoftmax;
  Positions positions = Positions::kNone;
  Rotary rotary = {};
  T5Buckets t5 = {};
  size_t shaw_farthest = 16;
  bool qk_norm = false;  // RMS norm of each head's queries and keys
  bool sinks = false;
  float softcap = 0.0f;
  bool causal = false;
  bool strictly_causal = false;        // the same without the query's own position
  std::optional<int64_t> window = {};  // keys before the query; with causal, the whole window
};

// The config with zeros replaced by the values they stand for. Throws ConfigError for settings that
// contradict each other or the traits of the score.
MultiHeadConfig resolved(MultiHeadConfig config);

// A layer of multi-head attention. Copies share their parameters.
struct MultiHeadAttention {
  MultiHeadConfig config;
  std::string name;                  // for a Recorder
  Linear query, key, value, output;  // key is empty for a score that does not read keys
  ScoreWeights score_weights;        // of a learned score
  RmsNorm query_norm, key_norm;      // [head_width]
  Tensor sinks;                      // [heads]
  Tensor t5_table;                   // [buckets, heads]
  Tensor shaw_keys, shaw_values;     // [2 farthest + 1, width of a head]

  MultiHeadAttention() = default;
  MultiHeadAttention(const MultiHeadConfig& config, Rng& rng);

  // Self-attention: x [rows, width] to the same. `mask` applies beside the config's own.
  Tensor operator()(const Tensor& x, const Packing& packing, const Mask& mask = {}) const;
  // Cross-attention: x [query rows, width] attends to source [key rows, source_width].
  Tensor operator()(const Tensor& x, const Packing& queries, const Tensor& source,
                    const Packing& keys, const Mask& mask = {}) const;
  // Causal self-attention for the next rows of sequences whose earlier rows are in the cache. A
  // prefix in `mask` counts keys of the cache.
  Tensor step(const Tensor& x, const Packing& packing, KeyValueCache& cache,
              const Mask& mask = {}) const;
  // Cross-attention to a source that remember() has projected. In the steps of a decoder, `earlier`
  // is the number of earlier queries of each sequence, from which rotary positions and a Recorder
  // continue.
  Tensor look(const Tensor& x, const Packing& queries, const KeyValueCache& source,
              std::span<const int32_t> earlier = {}) const;
  // Projects a source once, for any number of calls to look().
  KeyValueCache remember(const Tensor& source, const Packing& keys) const;

  KeyValueCache cache(size_t sequences) const;  // empty, rolling where the window allows it

  void visit(Visitor& v);

 private:
  struct Projected {
    Tensor k, v;
  };
  Projected project(const Tensor& source, std::span<const int32_t> positions) const;
  Tensor queries_of(const Tensor& x, std::span<const int32_t> positions) const;
  AttentionOptions options(const Mask& mask) const;
  RelativeBias relative(size_t reach) const;  // undefined if positions have none
  RelativeBias relative(const KeyValueCache& cache, size_t reach) const;  // kept there, if it is
  void keep_relative(KeyValueCache& cache) const;
};

}  // namespace attend
