#include "attend/models/rnn_attention.h"

#include <cmath>
#include <numeric>

#include "attend/ops/linear.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

Score score_of(RnnScore score) {
  switch (score) {
    case RnnScore::kDot:
      return Score::kDot;
    case RnnScore::kGeneral:
      return Score::kGeneral;
    case RnnScore::kConcat:
      return Score::kConcat;
    default:
      return Score::kAdditive;
  }
}

// The first sources, as many as there are sequences of queries.
RnnAttention::Source first_of(const RnnAttention::Source& source, size_t count) {
  if (count == source.packing.count()) return source;
  std::vector<int32_t> lengths(count);
  for (size_t i = 0; i < count; ++i) lengths[i] = static_cast<int32_t>(source.packing.length(i));
  const Packing packing(lengths);
  return {source.keys.slice_rows(0, packing.rows()), source.values.slice_rows(0, packing.rows()),
          packing};
}

}  // namespace

RnnAttention::RnnAttention(const RnnConfig& c, std::string layer, Rng& rng)
    : config(c), name(std::move(layer)) {
  const size_t keys = c.context_width();
  const size_t width = c.attention_width > 0 ? c.attention_width : c.hidden;
  if (c.coverage) {
    coverage = CoverageAttention({.width = c.hidden, .key_width = keys, .hidden = width}, rng);
    coverage.name = name;
    return;
  }
  if (c.reach == RnnReach::kLocalP) {
    local = LocalAttention({.width = c.hidden,
                            .key_width = keys,
                            .hidden = width,
                            .reach = c.window,
                            .score = score_of(c.attention)},
                           rng);
    local.name = name;
    return;
  }
  const auto matrix = [&](size_t out, size_t in) {
    return parameter({out, in}, Init::kXavierUniform, rng);
  };
  if (c.attention == RnnScore::kGeneral) weights.query = matrix(keys, c.hidden);
  if (c.attention == RnnScore::kConcat) weights.query = matrix(width, c.hidden + keys);
  if (c.attention == RnnScore::kAdditive) {
    weights.query = matrix(width, c.hidden);
    weights.key = matrix(width, keys);
  }
  if (c.attention == RnnScore::kAdditive || c.attention == RnnScore::kConcat) {
    weights.vector =
        parameter({width}, Init::kUniform, rng, 1.0f / std::sqrt(static_cast<float>(width)));
  }
}

Tensor RnnAttention::query_weight() const {
  if (config.attention != RnnScore::kConcat || !weights.query.defined()) return weights.query;
  return weights.query.slice_columns(0, config.hidden);
}

RnnAttention::Source RnnAttention::remember(const Tensor& encoded, const Packing& packing) const {
  Source source{encoded, encoded, packing};
  if (config.coverage) {
    source.keys = coverage.remember(encoded, encoded, packing).keys;
  } else if (weights.key.defined()) {
    source.keys = linear(encoded, weights.key);
  } else if (config.attention == RnnScore::kConcat && weights.query.defined()) {
    source.keys =
        linear(encoded, weights.query.slice_columns(config.hidden, config.context_width()));
  }
  return source;
}

Tensor RnnAttention::operator()(const Tensor& q, const Packing& queries,
                                const Source& source) const {
  if (config.reach == RnnReach::kLocalP) {
    return local({q, source.keys, source.values, queries, source.packing});
  }
  AttentionOptions options;
  if (config.reach == RnnReach::kLocalM) options.mask = local_mask(config.window);
  const Tensor weight = query_weight();
  return look(weight.defined() ? linear(q, weight) : q, queries, source, options);
}

RnnAttention::Walk RnnAttention::walk(const Source& source, size_t rows) const {
  Walk walk;
  const Tensor weight = query_weight();
  if (weight.defined()) walk.query = UnrolledLinear(weight, {}, rows);
  if (config.coverage) {
    walk.coverage = coverage.start({source.keys, source.values, source.packing});
  }
  return walk;
}

Tensor RnnAttention::step(const Tensor& q, const Packing& queries, const Source& all,
                          Walk& walk) const {
  if (config.coverage) return cover(q, all, walk);
  const Source source = first_of(all, queries.count());
  const size_t place = walk.steps++;
  std::vector<int32_t> earlier(queries.count(), static_cast<int32_t>(place));
  if (config.reach == RnnReach::kLocalP) {
    return local({q, source.keys, source.values, queries, source.packing, std::move(earlier)});
  }
  AttentionOptions options;
  options.mask = mask_of(queries, source.packing, place);
  options.earlier.queries = std::move(earlier);
  return look(weights.query.defined() ? walk.query(q) : q, queries, source, options);
}

// Projections are done already, of keys once and of queries here or there.
Tensor RnnAttention::look(const Tensor& q, const Packing& queries, const Source& source,
                          const AttentionOptions& given) const {
  AttentionOptions options = given;
  options.queries = queries;
  options.keys = source.packing;
  options.score = weights.vector.defined() ? Score::kAdditive : Score::kDot;
  options.score_weights.vector = weights.vector;
  options.name = name;
  return attention(q, source.keys, source.values, options).output;
}

Tensor RnnAttention::cover(const Tensor& q, const Source& source, Walk& walk) const {
  if (q.rows() < walk.coverage.alignment.queries()) {
    std::vector<size_t> live(q.rows());
    std::iota(live.begin(), live.end(), size_t{0});
    walk.coverage.reorder(live);
  }
  const Tensor before = walk.coverage.remembered;
  const auto [context, looked] =
      coverage.step(q, {source.keys, source.values, source.packing}, walk.coverage);
  if (grad_enabled()) {
    walk.coverage_losses.push_back(coverage_loss(walk.coverage.alignment, looked, before));
  }
  return context;
}

// Local-m. The hypotheses of one source are all at the same place, which no window says.
Mask RnnAttention::mask_of(const Packing& queries, const Packing& keys, size_t place) const {
  if (config.reach != RnnReach::kLocalM) return {};
  if (queries.longest() <= 1) return local_mask(config.window, place);
  const size_t rows = queries.longest(), columns = keys.longest();
  std::vector<uint8_t> allowed(rows * columns);
  for (size_t i = 0; i < allowed.size(); ++i) {
    const size_t key = i % columns;
    allowed[i] = key + config.window >= place && key <= place + config.window;
  }
  Mask mask;
  mask.pairs = PairMask({rows, columns}, std::move(allowed));
  return mask;
}

void RnnAttention::visit(Visitor& v) {
  v("query", weights.query);
  v("key", weights.key);
  v("vector", weights.vector);
  if (config.reach == RnnReach::kLocalP) local.visit(v);
  if (config.coverage) coverage.visit(v);
}

}  // namespace attend
