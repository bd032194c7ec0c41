#include "attend/models/rnn_attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "attend/base/error.h"
#include "attend/ops/linear.h"
#include "attend/ops/sequences.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// The first sources, as many as there are sequences of queries.
RnnAttention::Source first_of(const RnnAttention::Source& source, size_t count) {
  if (count == source.packing.count()) return source;
  std::vector<size_t> first(count);
  std::iota(first.begin(), first.end(), size_t{0});
  const Packing packing = source.packing.pick(first);
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
                            .score = *c.attention},
                           rng);
    local.name = name;
    return;
  }
  weights = make_score_weights(*c.attention,
                               {.query_width = c.hidden,
                                .key_width = keys,
                                .hidden = width,
                                .longest_keys = c.longest_source},
                               rng);
}

// Global, and local-m.
ProjectedScore RnnAttention::projected() const {
  if (config.coverage || config.reach == RnnReach::kLocalP) return {*config.attention, {}};
  return projected_score(*config.attention, weights, config.hidden);
}

RnnAttention::Source RnnAttention::remember(const Tensor& encoded, const Packing& packing) const {
  Source source{encoded, encoded, packing};
  if (config.coverage) {
    source.keys = coverage.remember(encoded, encoded, packing).keys;
  } else if (const Tensor key = projected().key; key.defined()) {
    source.keys = linear(encoded, key);
  }
  return source;
}

RnnAttention::Source RnnAttention::join(const Source& a, const Source& b) {
  return {concat({a.keys, b.keys}, 0), concat({a.values, b.values}, 0),
          a.packing.followed_by(b.packing)};
}

RnnAttention::Source RnnAttention::pick(const Source& source, std::span<const size_t> records) {
  return {pick_sequences(source.keys, source.packing, records),
          pick_sequences(source.values, source.packing, records), source.packing.pick(records)};
}

Tensor RnnAttention::operator()(const Tensor& q, const Packing& queries,
                                const Source& source) const {
  if (config.reach == RnnReach::kLocalP) {
    return local({q, source.keys, source.values, queries, source.packing});
  }
  AttentionOptions options;
  if (config.reach == RnnReach::kLocalM) options.mask = local_mask(config.window);
  const Tensor weight = projected().query;
  return look(weight.defined() ? linear(q, weight) : q, queries, source, options);
}

RnnAttention::Walk RnnAttention::walk(const Source& source, size_t rows) const {
  Walk walk;
  const Tensor weight = projected().query;
  if (weight.defined()) walk.query = UnrolledLinear(weight, {}, rows);
  if (config.coverage) {
    walk.coverage = coverage.start({source.keys, source.values, source.packing});
  }
  return walk;
}

Tensor RnnAttention::step(const Tensor& q, const Rows& rows, const Source& all, Walk& walk) const {
  if (config.coverage) return cover(q, all, walk);
  const Source source = first_of(all, rows.by_record.count());
  std::vector<int32_t> earlier(rows.by_record.count(), 0);
  for (size_t r = 0; r < earlier.size(); ++r) {
    if (rows.by_record.length(r) > 0) earlier[r] = rows.earlier[rows.by_record.begin(r)];
  }
  if (config.reach == RnnReach::kLocalP) {
    return local(
        {q, source.keys, source.values, rows.by_record, source.packing, std::move(earlier)});
  }
  AttentionOptions options;
  options.mask = mask_of(rows, source.packing);
  options.earlier.queries = std::move(earlier);
  return look(projected().query.defined() ? walk.query(q) : q, rows.by_record, source, options);
}

// Projections are done already, of keys once and of queries here or there.
Tensor RnnAttention::look(const Tensor& q, const Packing& queries, const Source& source,
                          const AttentionOptions& given) const {
  AttentionOptions options = given;
  options.queries = queries;
  options.keys = source.packing;
  const ProjectedScore left = projected();
  options.score = left.score;
  options.score_weights = left.weights;
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

// Local-m. Each row looks around the position of its own sequence, which no window says for several
// hypotheses of one record.
Mask RnnAttention::mask_of(const Rows& rows, const Packing& keys) const {
  if (config.reach != RnnReach::kLocalM) return {};
  const Packing& queries = rows.by_record;
  const size_t records = queries.count(), longest = queries.longest(), columns = keys.longest();
  const bool together =
      std::ranges::adjacent_find(rows.earlier, std::not_equal_to()) == rows.earlier.end();
  if (longest <= 1 && together && !rows.earlier.empty()) {
    return local_mask(config.window, static_cast<size_t>(rows.earlier.front()));
  }
  std::vector<uint8_t> allowed(records * longest * columns, 0);
  for (size_t r = 0; r < records; ++r) {
    for (size_t i = 0; i < queries.length(r); ++i) {
      const auto place = static_cast<size_t>(rows.earlier[queries.begin(r) + i]);
      uint8_t* const row = allowed.data() + (r * longest + i) * columns;
      for (size_t key = 0; key < columns; ++key) {
        row[key] = key + config.window >= place && key <= place + config.window;
      }
    }
  }
  Mask mask;
  mask.pairs = PairMask({records, 1, longest, columns}, std::move(allowed));
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
