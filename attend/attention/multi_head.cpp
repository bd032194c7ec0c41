#include "attend/attention/multi_head.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "attend/attention/problem.h"
#include "attend/base/error.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// 0, 1, 2 ... in each sequence, from `first` on.
std::vector<int32_t> positions_of(const Packing& packing, std::span<const int32_t> first = {}) {
  std::vector<int32_t> positions;
  positions.reserve(packing.rows());
  for (size_t s = 0; s < packing.count(); ++s) {
    const int32_t start = first.empty() ? 0 : first[s];
    for (size_t i = 0; i < packing.length(s); ++i) {
      positions.push_back(start + static_cast<int32_t>(i));
    }
  }
  return positions;
}

Tensor norm_heads(const RmsNorm& norm, const Tensor& x, size_t heads) {
  return reshape(norm(reshape(x, {x.rows() * heads, x.width() / heads})), x.shape());
}

size_t longest(std::span<const int32_t> lengths) {
  return lengths.empty() ? 0 : static_cast<size_t>(std::ranges::max(lengths));
}

// How many keys of each sequence a rolling cache has let go.
std::vector<int32_t> dropped(const KeyValueCache& cache) {
  std::vector<int32_t> counts(cache.sequences());
  std::ranges::transform(cache.seen(), cache.lengths(), counts.begin(), std::minus<>());
  return counts;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadConfig& c, Rng& rng) : config(resolved(c)) {
  const LinearOptions linear{.bias = config.bias};
  query = Linear(config.width, config.heads * config.head_width, rng, linear);
  if (traits_of(config.score).reads_keys) {
    key = Linear(config.source_width, config.kv_heads * config.head_width, rng, linear);
  }
  value = Linear(config.source_width, config.kv_heads * config.value_width, rng, linear);
  output = Linear(config.heads * config.value_width, config.width, rng, linear);
  if (config.qk_norm) {
    query_norm = RmsNorm(config.head_width);
    key_norm = RmsNorm(config.head_width);
  }
  if (config.sinks) sinks = parameter({config.heads}, Init::kZeros, rng);
  if (config.positions == Positions::kT5) {
    t5_table = parameter({config.t5.count, config.heads}, Init::kNormal, rng, 0.1f);
  }
  if (config.positions == Positions::kShaw) {
    const size_t distances = 2 * config.shaw_farthest + 1;
    shaw_keys = parameter({distances, config.head_width}, Init::kXavierUniform, rng);
    shaw_values = parameter({distances, config.value_width}, Init::kXavierUniform, rng);
  }
  score_weights = make_score_weights(config.score,
                                     {.query_width = config.heads * config.head_width,
                                      .key_width = config.kv_heads * config.head_width,
                                      .heads = config.heads,
                                      .kv_heads = config.kv_heads,
                                      .hidden = config.head_width,
                                      .longest_keys = config.longest_keys,
                                      .projected = true},
                                     rng);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Packing& packing,
                                      const Mask& mask) const {
  const std::vector<int32_t> positions = positions_of(packing);
  const auto [k, v] = project(x, positions);
  AttentionOptions o = options(mask);
  o.queries = o.keys = packing;
  o.relative = relative(packing.longest());
  return output(attention(queries_of(x, positions), k, v, o).output);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Packing& queries, const Tensor& source,
                                      const Packing& keys, const Mask& mask) const {
  const auto [k, v] = project(source, positions_of(keys));
  AttentionOptions o = options(mask);
  o.queries = queries;
  o.keys = keys;
  o.relative = relative(queries.longest() + keys.longest());
  return output(attention(queries_of(x, positions_of(queries)), k, v, o).output);
}

Tensor MultiHeadAttention::step(const Tensor& x, const Packing& packing, KeyValueCache& cache,
                                const Mask& mask) const {
  if (packing.count() != cache.sequences()) {
    throw ShapeError("multi-head attention: rows of {} sequences, but the cache holds {}",
                     packing.count(), cache.sequences());
  }
  const std::vector<int32_t> before(cache.seen().begin(), cache.seen().end());
  const std::vector<int32_t> positions = positions_of(packing, before);
  const auto [k, v] = project(x, positions);
  cache.append(packing, k, v);
  keep_relative(cache);
  AttentionOptions o = options(mask);
  o.mask.causal = true;
  o.queries = packing;
  o.keys = cache.packing();
  o.key_lengths.assign(cache.lengths().begin(), cache.lengths().end());
  o.earlier = {before, dropped(cache)};
  o.relative = relative(cache, longest(cache.lengths()));
  return output(attention(queries_of(x, positions), cache.keys(), cache.values(), o).output);
}

Tensor MultiHeadAttention::look(const Tensor& x, const Packing& queries,
                                const KeyValueCache& source,
                                std::span<const int32_t> earlier) const {
  EarlierRows before{.queries = {earlier.begin(), earlier.end()}};
  check_earlier(before, queries.count());
  AttentionOptions o = options({});
  o.queries = queries;
  o.keys = source.packing();
  o.key_lengths.assign(source.lengths().begin(), source.lengths().end());
  o.earlier = std::move(before);
  const size_t reach = std::max(queries.longest(), longest(source.lengths()));
  o.relative = relative(source, reach);
  const Tensor q = queries_of(x, positions_of(queries, earlier));
  return output(attention(q, source.keys(), source.values(), o).output);
}

KeyValueCache MultiHeadAttention::remember(const Tensor& source, const Packing& keys) const {
  const auto [k, v] = project(source, positions_of(keys));
  KeyValueCache cache(keys.count());
  cache.append(keys, k, v);
  keep_relative(cache);
  return cache;
}

KeyValueCache MultiHeadAttention::cache(size_t sequences) const {
  // A score by position counts keys from the first on, so that none may be dropped.
  const bool rolls =
      config.causal && config.window.has_value() && traits_of(config.score).reads_keys;
  return KeyValueCache(sequences, rolls ? static_cast<size_t>(*config.window) + 1 : 0);
}

MultiHeadAttention::Projected MultiHeadAttention::project(
    const Tensor& source, std::span<const int32_t> positions) const {
  const bool keys = traits_of(config.score).reads_keys;
  Projected projected{keys ? key(source) : Tensor::empty({source.rows(), 0}), value(source)};
  if (config.qk_norm) projected.k = norm_heads(key_norm, projected.k, config.kv_heads);
  if (config.positions == Positions::kRotary) {
    projected.k = rotate(projected.k, positions, config.kv_heads, config.rotary);
  }
  return projected;
}

Tensor MultiHeadAttention::queries_of(const Tensor& x, std::span<const int32_t> positions) const {
  Tensor q = query(x);
  if (config.qk_norm) q = norm_heads(query_norm, q, config.heads);
  if (config.positions == Positions::kRotary) q = rotate(q, positions, config.heads, config.rotary);
  return q;
}

AttentionOptions MultiHeadAttention::options(const Mask& mask) const {
  AttentionOptions o;
  o.heads = config.heads;
  o.kv_heads = config.kv_heads;
  o.score = config.score;
  o.score_weights = score_weights;
  o.weighting = config.weighting;
  o.softcap = config.softcap;
  o.sinks = sinks;
  o.dropout = config.dropout;
  o.name = name;
  o.mask = mask;
  o.mask.causal |= config.causal;
  o.mask.strictly_causal |= config.strictly_causal;
  if (config.window) {
    o.mask.left = std::min(o.mask.left.value_or(*config.window), *config.window);
    if (!config.causal)
      o.mask.right = std::min(o.mask.right.value_or(*config.window), *config.window);
  }
  if (config.positions == Positions::kShaw) o.shaw = {shaw_keys, shaw_values};
  return o;
}

RelativeBias MultiHeadAttention::relative(size_t reach) const {
  if (config.positions == Positions::kAlibi) return alibi(config.heads, reach);
  if (config.positions == Positions::kT5) return t5_bias(t5_table, config.t5, reach);
  return {};
}

RelativeBias MultiHeadAttention::relative(const KeyValueCache& cache, size_t reach) const {
  const size_t kept = cache.distances.defined() ? cache.distances.width() / 2 : 0;
  return kept < reach ? relative(reach) : RelativeBias{cache.distances, kept};
}

void MultiHeadAttention::keep_relative(KeyValueCache& cache) const {
  const NoGrad no_grad;
  cache.distances = relative(cache, cache.capacity()).values;
}

void MultiHeadAttention::visit(Visitor& v) {
  v("query", query);
  v("key", key);
  v("value", value);
  v("output", output);
  v("query_norm", query_norm);
  v("key_norm", key_norm);
  v("score_query", score_weights.query);
  v("score_vector", score_weights.vector);
  v("sinks", sinks);
  v("t5_table", t5_table);
  v("shaw_keys", shaw_keys);
  v("shaw_values", shaw_values);
}

}  // namespace attend
