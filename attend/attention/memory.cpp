#include "attend/attention/memory.h"

#include "attend/base/error.h"
#include "attend/ops/elementwise.h"

namespace attend {
namespace {

MemoryConfig resolved(MemoryConfig c) {
  if (c.width == 0 || c.hops == 0 || c.heads == 0) {
    throw ConfigError("memory attention: width {}, hops {} and heads {} must all be at least 1",
                      c.width, c.hops, c.heads);
  }
  if (c.width % c.heads != 0) {
    throw ConfigError("memory attention: {} heads do not divide width {}; choose another number",
                      c.heads, c.width);
  }
  if (traits_of(c.score).learned) {
    throw ConfigError("memory attention: score {} has weights of its own; use {}", name_of(c.score),
                      scores_where([](const ScoreTraits& traits) { return !traits.learned; }));
  }
  if (c.memory_width == 0) c.memory_width = c.width;
  return c;
}

}  // namespace

MemoryAttention::MemoryAttention(const MemoryConfig& c, Rng& rng)
    : config(resolved(c)),
      key(config.memory_width, config.width, rng, {.bias = false}),
      value(config.memory_width, config.width, rng, {.bias = false}) {
  if (config.slots > 0) {
    table = parameter({config.slots, config.memory_width}, Init::kNormal, rng, 0.1f);
  }
  if (config.hops > 1) onward = Linear(config.width, config.width, rng, {.bias = false});
}

Tensor MemoryAttention::operator()(const Tensor& x) const {
  if (!table.defined()) {
    throw ConfigError(
        "memory attention: there is no learned table; set slots, or give the memory with each "
        "call");
  }
  return (*this)(x, Packing::even(1, x.rows()), table, Packing::even(1, table.rows()));
}

Tensor MemoryAttention::operator()(const Tensor& x, const Packing& queries, const Tensor& slots,
                                   const Packing& memories) const {
  AttentionOptions options{.heads = config.heads};
  options.queries = queries;
  options.keys = memories;
  options.score = config.score;
  options.name = name;
  const Tensor k = key(slots), v = value(slots);
  Tensor u = x;
  for (size_t hop = 0; hop < config.hops; ++hop) {
    const Tensor o = attention(u, k, v, options).output;
    u = add(hop + 1 < config.hops ? onward(u) : u, o);
  }
  return u;
}

void MemoryAttention::visit(Visitor& v) {
  v("table", table);
  v("key", key);
  v("value", value);
  v("onward", onward);
}

}  // namespace attend
