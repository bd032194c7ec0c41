#include "attend/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/attention/intervention.h"
#include "attend/attention/problem.h"
#include "attend/attention/unread_rows.h"
#include "attend/base/error.h"
#include "attend/ops/linear.h"
#include "attend/ops/shape.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

void check_rows(const Tensor& x, const char* what, const Packing& packing) {
  if (!x.defined() || x.dtype() != DType::kFloat32) {
    throw ShapeError("attention: {} are {}; give values, such as embeddings", what,
                     x.defined() ? "int32 " + x.shape().text() : "undefined");
  }
  if (x.rank() != 2) {
    throw ShapeError("attention: {} are {}, not [rows, width]", what, x.shape());
  }
  if (x.rows() != packing.rows()) {
    throw ShapeError("attention: {} have {} rows but their sequences have {}", what, x.rows(),
                     packing.rows());
  }
}

void check_heads(const Tensor& x, const char* what, size_t heads) {
  if (x.width() % heads != 0) {
    throw ShapeError("attention: {} are {} wide, which {} heads do not divide", what, x.width(),
                     heads);
  }
}

void check_inputs(const AttentionProblem& p, const Tensor& q, const Tensor& k) {
  check_rows(q, "queries", p.queries);
  if (k.rank() == 2 && p.v.rank() == 2 && k.rows() != p.v.rows()) {
    throw ShapeError("attention: keys have {} rows but values have {}", k.rows(), p.v.rows());
  }
  check_rows(k, "keys", p.keys);
  check_rows(p.v, "values", p.keys);
  if (p.queries.count() != p.keys.count()) {
    throw ShapeError("attention: {} sequences of queries but {} of keys", p.queries.count(),
                     p.keys.count());
  }
  if (p.heads == 0 || p.kv_heads == 0 || p.heads % p.kv_heads != 0) {
    throw ConfigError("attention: {} heads cannot share {} key heads evenly", p.heads, p.kv_heads);
  }
  check_heads(q, "queries", p.heads);
  check_heads(k, "keys", p.kv_heads);
  check_heads(p.v, "values", p.kv_heads);
}

std::vector<int32_t> checked_key_counts(const AttentionProblem& p) {
  const std::vector<int32_t>& lengths = p.options.key_lengths;
  if (!lengths.empty() && lengths.size() != p.keys.count()) {
    throw ShapeError("attention: {} key lengths for {} sequences", lengths.size(), p.keys.count());
  }
  std::vector<int32_t> counts;
  for (size_t s = 0; s < p.keys.count(); ++s) {
    const auto rows = static_cast<int32_t>(p.keys.length(s));
    counts.push_back(lengths.empty() ? rows : lengths[s]);
    if (counts[s] < 0 || counts[s] > rows) {
      throw ShapeError("attention: key length {} of sequence {} is not within its {} rows",
                       counts[s], s, rows);
    }
  }
  return counts;
}

void check_score(const AttentionProblem& p) {
  const PreparedScore& score = p.score;
  check_heads(score.q, "projected queries", p.heads);
  if (score.core == ScoreCore::kPlace) {
    if (p.width() < p.longest_keys) {
      throw ShapeError(
          "attention: score {} has {} positions in each head, but there are up to {} keys; give "
          "the query weight {} rows",
          name_of(p.options.score), p.width(), p.longest_keys, p.heads * p.longest_keys);
    }
  } else if (p.width() != score.k.width() / p.kv_heads) {
    throw ShapeError("attention: a query is {} wide in each head but a key {}", p.width(),
                     score.k.width() / p.kv_heads);
  } else if (p.width() == 0) {
    throw ShapeError(
        "attention: queries and keys are 0 wide in each head, so there is nothing to compare; give "
        "them 1 column or more");
  }
}

// Tables with one column for all keys, as wide as the keys: paths and kernels read one element a
// key. The gradient of such a bias is the sum over keys.
void broadcast_over_keys(AttentionProblem& p) {
  const size_t keys = p.longest_keys;
  const auto narrow = [keys](const Shape& shape) {
    return keys > 1 && shape.rank() >= 2 && shape.width() == 1;
  };
  const auto widened = [keys](Shape shape) {
    shape.set(-1, keys);
    return shape;
  };
  if (Tensor& bias = p.options.bias; bias.defined() && narrow(bias.shape())) {
    const Tensor column = reshape(bias, {bias.size(), 1});
    bias = reshape(matmul(column, Tensor::full({1, keys}, 1.0f)), widened(bias.shape()));
  }
  if (PairMask& pairs = p.options.mask.pairs; pairs.defined() && narrow(pairs.shape())) {
    std::vector<uint8_t> allowed;
    allowed.reserve(pairs.shape().size() * keys);
    for (size_t i = 0; i < pairs.shape().size(); ++i) {
      allowed.insert(allowed.end(), keys, pairs.data()[i]);
    }
    pairs = PairMask(widened(pairs.shape()), std::move(allowed));
  }
}

// A number whose inverse is a number too.
bool is_divisor(float x) { return x > 0.0f && std::isfinite(x) && std::isfinite(1.0f / x); }

void check_terms(const AttentionProblem& p) {
  const AttentionOptions& o = p.options;
  check_weighting(o.weighting);
  if (o.bias.defined()) p.steps_of(o.bias.shape(), "bias");
  if (o.mask.pairs.defined()) p.steps_of(o.mask.pairs.shape(), "mask");
  if (o.sinks.defined() && o.sinks.shape() != Shape{p.heads}) {
    throw ShapeError("attention: sinks are {}, not one for each of {} heads", o.sinks.shape(),
                     p.heads);
  }
  if (o.sinks.defined() && !traits_of(o.weighting).sinks) {
    throw ConfigError(
        "attention: sinks are part of a softmax, but the weighting is {}; use {}, or no sinks",
        name_of(o.weighting), weightings_where(&WeightingTraits::sinks));
  }
  if (!is_divisor(o.temperature)) {
    throw ConfigError("attention: temperature is {}; it should be a finite number above 0",
                      o.temperature);
  }
  if (o.softcap != 0.0f && !is_divisor(o.softcap)) {
    throw ConfigError(
        "attention: softcap is {}; it should be a finite number above 0, or 0 for none", o.softcap);
  }
  if (o.scale && !std::isfinite(*o.scale)) {
    throw ConfigError("attention: scale is {}; it should be a finite number", *o.scale);
  }
  if (!(o.dropout >= 0.0f && o.dropout < 1.0f)) {
    throw ConfigError("attention: dropout is {}, not within [0, 1)", o.dropout);
  }
}

// q (k + a) is all that the papers say of vectors added to keys.
void check_shaw_score(const AttentionOptions& o) {
  if (o.shaw.keys.defined() && !traits_of(o.score).product) {
    throw ConfigError(
        "attention: Shaw's vectors for keys are part of a product, but the score is {}; use {}, "
        "or leave them out",
        name_of(o.score), scores_where(&ScoreTraits::product));
  }
}

// All distances that occur must be in the table.
void check_relative(const AttentionProblem& p) {
  const RelativeBias& relative = p.options.relative;
  if (!relative.values.defined()) return;
  if (relative.values.rank() != 2 || relative.values.rows() != p.heads) {
    throw ShapeError(
        "attention: a relative bias of shape {} for {} heads; it is [heads, distances]",
        relative.values.shape(), p.heads);
  }
  const auto zero =
      static_cast<int64_t>(std::min<size_t>(relative.zero, std::numeric_limits<int64_t>::max()));
  const auto size = static_cast<int64_t>(relative.values.width());
  for (size_t s = 0; s < p.queries.count(); ++s) {
    if (p.queries.length(s) == 0 || p.key_count(s) == 0) continue;
    const int64_t first = p.positions[p.queries.begin(s)], last = p.positions[p.queries.end(s) - 1];
    const int64_t least = saturating_subtract(0, last);
    const int64_t most = saturating_subtract(static_cast<int64_t>(p.key_count(s)) - 1, first);
    if (least < -zero || most > size - 1 - zero) {
      throw ShapeError("attention: the relative bias covers distances {} to {}, but {} to {} occur",
                       -zero, size - 1 - zero, least, most);
    }
  }
}

void check_shaw(const Tensor& vectors, const char* what, size_t width) {
  if (vectors.defined() &&
      (vectors.rank() != 2 || vectors.rows() % 2 == 0 || vectors.width() != width)) {
    throw ShapeError("attention: Shaw's vectors for {} are {}; they are [2 farthest + 1, {}]", what,
                     vectors.shape(), width);
  }
}

// Why the fused path is closed; empty if it is open.
std::string why_plain(const AttentionProblem& p) {
  const AttentionOptions& o = p.options;
  if (o.plain) return "asked for";
  if (intervention_in(o.name) != nullptr) return "an intervention changes its weights";
  if (!traits_of(o.score).fused) {
    return fmt::format("score {} has no fused kernel", name_of(o.score));
  }
  if (!traits_of(o.weighting).fused) {
    return fmt::format("weighting {} needs whole rows", name_of(o.weighting));
  }
  if (o.shaw.keys.defined() || o.shaw.values.defined()) return "Shaw's positions are per pair";
  return {};
}

}  // namespace

Attended attention(const Tensor& q, const Tensor& k, const Tensor& v,
                   const AttentionOptions& options) {
  auto problem = std::make_shared<AttentionProblem>();
  AttentionProblem& p = *problem;
  p.options = options;
  p.v = v;
  p.heads = options.heads;
  p.kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  p.queries = options.queries.value_or(Packing::even(1, q.rank() == 2 ? q.rows() : 0));
  p.keys = options.keys.value_or(Packing::even(1, k.rank() == 2 ? k.rows() : 0));
  check_inputs(p, q, k);
  check_earlier(options.earlier, p.queries.count());
  const std::vector<int32_t> key_counts = checked_key_counts(p);
  if (!key_counts.empty()) p.longest_keys = static_cast<size_t>(std::ranges::max(key_counts));
  broadcast_over_keys(p);
  p.ranges = key_ranges(options.mask, p.queries, p.keys, key_counts);
  p.positions = query_positions(options.mask, p.queries, key_counts);
  UnreadRows unread(p);
  p.score = prepare_score({options.score, options.score_weights, q, k, p.heads, p.kv_heads,
                           options.scale, [&](const Tensor& x) { return unread.clear_queries(x); },
                           [&](const Tensor& x) { return unread.clear_keys(x); }});
  check_score(p);
  check_terms(p);
  check_relative(p);
  check_shaw_score(options);
  check_shaw(options.shaw.keys, "keys", p.width());
  check_shaw(options.shaw.values, "values", p.value_width());
  if (TrainingScope* training = current_training()) {
    if (options.dropout > 0.0f) p.dropout = {options.dropout, training->rng.stream()};
    if (options.weighting == Weighting::kHardSample && !options.random) {
      p.sampling = training->rng.stream();
    }
  }
  if (options.random) p.sampling = *options.random;
  std::string reason = why_plain(p);
  if (reason.empty()) return fused_attention(problem);
  p.score.q = unread.clear_queries(p.score.q);
  if (p.score.k.defined()) p.score.k = unread.clear_keys(p.score.k);
  p.v = unread.clear_keys(p.v);
  Attended attended = plain_attention(p);
  attended.reason = std::move(reason);
  return attended;
}

}  // namespace attend
