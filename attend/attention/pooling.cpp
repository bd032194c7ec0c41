#include "attend/attention/pooling.h"

#include "attend/base/error.h"
#include "attend/ops/embedding.h"

namespace attend {
namespace {

void check(const char* what, size_t queries, const MultiHeadConfig& c) {
  if (queries == 0) {
    throw ConfigError("{}: 0 learned queries give nothing; have at least 1", what);
  }
  if (c.causal || c.strictly_causal || c.window || c.positions != Positions::kNone) {
    throw ConfigError(
        "{}: learned queries have no place among the rows, but causal is {}, a window is {} and "
        "positions are {}; leave all three out",
        what, c.causal || c.strictly_causal, c.window ? "set" : "not set", name_of(c.positions));
  }
}

InducedAttentionConfig checked(const InducedAttentionConfig& config) {
  const MultiHeadConfig& c = config.attention;
  check("induced attention", config.points, c);
  if (c.source_width != 0 && c.source_width != c.width) {
    throw ConfigError(
        "induced attention: a sequence looks at itself, but its width is {} and source_width {}; "
        "leave source_width out",
        c.width, c.source_width);
  }
  return config;
}

}  // namespace

AttentionPooling::AttentionPooling(const AttentionPoolingConfig& config, Rng& rng) {
  check("attention pooling", config.queries, config.attention);
  attention = MultiHeadAttention(config.attention, rng);
  queries = parameter({config.queries, config.attention.width}, Init::kXavierUniform, rng);
}

Tensor AttentionPooling::operator()(const Tensor& x, const Packing& rows) const {
  const Packing learned = packing(rows.count());
  std::vector<int32_t> ids(learned.rows());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i % queries.rows());
  return attention(gather_rows(queries, Tensor::ids(ids, {ids.size()})), learned, x, rows);
}

void AttentionPooling::visit(Visitor& v) {
  v("queries", queries);
  v("attention", attention);
}

InducedAttention::InducedAttention(const InducedAttentionConfig& config, Rng& rng)
    : points({checked(config).points, config.attention}, rng), attention(config.attention, rng) {}

Tensor InducedAttention::operator()(const Tensor& x, const Packing& rows) const {
  return attention(x, rows, points(x, rows), points.packing(rows.count()));
}

void InducedAttention::visit(Visitor& v) {
  v("points", points);
  v("attention", attention);
}

}  // namespace attend
