#include "attend/attention/scores.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/nn/init.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/ops/norm.h"
#include "attend/ops/shape.h"

namespace attend {
namespace {

// A product of rows with a weight [out, in], after a check that names it.
Tensor project(const Tensor& x, const Tensor& weight, const char* score, const char* what) {
  if (!weight.defined() || weight.rank() != 2 || weight.extent(1) != x.width()) {
    throw ShapeError("attention: score {} needs a {} weight [..., {}], but it is {}", score, what,
                     x.width(), weight.defined() ? weight.shape().text() : "undefined");
  }
  return linear(x, weight);
}

Tensor queries_of(const ScoreInputs& in) { return in.read_queries ? in.read_queries(in.q) : in.q; }
Tensor keys_of(const ScoreInputs& in, const Tensor& x) {
  return in.read_keys ? in.read_keys(x) : x;
}

Tensor unit_rows(const Tensor& x, size_t heads) {
  const size_t width = x.width() / heads;
  const Tensor rows = rms_norm(reshape(x, {x.rows() * heads, width}), {}, 1e-12f);
  return reshape(rows, x.shape());
}

PreparedScore dot(const ScoreInputs& in) { return {ScoreCore::kDot, in.q, in.k, {}, 1.0f}; }

PreparedScore scaled_dot(const ScoreInputs& in) {
  const size_t head_width = in.q.width() / in.heads;
  const auto width = static_cast<float>(head_width);
  return {ScoreCore::kDot, in.q, in.k, {}, 1.0f / std::sqrt(width)};
}

PreparedScore general(const ScoreInputs& in) {
  return {ScoreCore::kDot,
          project(queries_of(in), in.weights.query, "general", "query"),
          in.k,
          {},
          1.0f};
}

PreparedScore cosine(const ScoreInputs& in) {
  const size_t head_width = in.q.width() / in.heads;
  const auto width = static_cast<float>(head_width);
  return {ScoreCore::kDot,
          unit_rows(queries_of(in), in.heads),
          unit_rows(keys_of(in, in.k), in.kv_heads),
          {},
          1.0f / width};
}

PreparedScore distance(const ScoreInputs& in) {
  return {ScoreCore::kDistance, in.q, in.k, {}, 1.0f};
}

PreparedScore additive_of(const ScoreInputs& in, const Tensor& q, Tensor k) {
  const ScoreWeights& w = in.weights;
  if (w.location.defined()) {
    k = add(k, project(keys_of(in, w.location_inputs), w.location, "additive", "location"));
  }
  if (!w.vector.defined() || w.vector.shape() != Shape{q.width()} ||
      k.width() * in.heads != q.width() * in.kv_heads) {
    throw ShapeError(
        "attention: projected queries are {} wide in {} heads, keys {} in {}, and the vector is "
        "{}; all three should agree in the width of a head",
        q.width(), in.heads, k.width(), in.kv_heads,
        w.vector.defined() ? w.vector.shape().text() : "undefined");
  }
  return {ScoreCore::kAdditive, q, k, w.vector, 1.0f};
}

// Without weights rows are taken as projected: a decoder projects its keys once for all steps.
PreparedScore additive(const ScoreInputs& in) {
  const auto [query, key] = std::pair(in.weights.query, in.weights.key);
  return additive_of(in,
                     query.defined() ? project(queries_of(in), query, "additive", "query") : in.q,
                     key.defined() ? project(keys_of(in, in.k), key, "additive", "key") : in.k);
}

PreparedScore concat_score(const ScoreInputs& in) {
  const Tensor& w = in.weights.query;
  const size_t q_width = in.q.width(), k_width = in.k.width();
  if (!w.defined() || w.rank() != 2 || w.extent(1) != q_width + k_width) {
    throw ShapeError("attention: score concat needs a query weight [..., {}], but it is {}",
                     q_width + k_width, w.defined() ? w.shape().text() : "undefined");
  }
  return additive_of(in, linear(queries_of(in), w.slice_columns(0, q_width)),
                     linear(keys_of(in, in.k), w.slice_columns(q_width, k_width)));
}

PreparedScore location(const ScoreInputs& in) {
  return {ScoreCore::kPlace,
          project(queries_of(in), in.weights.query, "location", "query"),
          {},
          {},
          1.0f};
}

// Fresh weights of the learned ones.
Tensor fresh_matrix(size_t out, size_t in, Rng& rng) {
  return parameter({out, in}, Init::kXavierUniform, rng);
}

Tensor fresh_vector(const ScoreWeightSizes& s, Rng& rng) {
  return parameter({s.heads * s.hidden}, Init::kUniform, rng,
                   1.0f / std::sqrt(static_cast<float>(s.hidden)));
}

ScoreWeights no_weights(const ScoreWeightSizes&, Rng&) { return {}; }

ScoreWeights general_weights(const ScoreWeightSizes& s, Rng& rng) {
  return {.query = fresh_matrix(s.heads * (s.key_width / s.kv_heads), s.query_width, rng)};
}

ScoreWeights additive_weights(const ScoreWeightSizes& s, Rng& rng) {
  ScoreWeights weights;
  if (!s.projected) {
    weights.query = fresh_matrix(s.heads * s.hidden, s.query_width, rng);
    weights.key = fresh_matrix(s.kv_heads * s.hidden, s.key_width, rng);
  }
  weights.vector = fresh_vector(s, rng);
  return weights;
}

ScoreWeights concat_weights(const ScoreWeightSizes& s, Rng& rng) {
  ScoreWeights weights;
  weights.query = fresh_matrix(s.heads * s.hidden, s.query_width + s.key_width, rng);
  weights.vector = fresh_vector(s, rng);
  return weights;
}

ScoreWeights location_weights(const ScoreWeightSizes& s, Rng& rng) {
  return {.query = fresh_matrix(s.heads * s.longest_keys, s.query_width, rng)};
}

// What is left of a score when rows are projected beforehand.
ProjectedScore general_projected(Score, const ScoreWeights& w, size_t) {
  return {Score::kDot, {}, w.query};
}

ProjectedScore additive_projected(Score score, const ScoreWeights& w, size_t) {
  ScoreWeights left = w;
  left.query = left.key = {};
  return {score, left, w.query, w.key};
}

ProjectedScore concat_projected(Score, const ScoreWeights& w, size_t query_width) {
  const size_t keys = w.query.extent(1) - query_width;
  return {Score::kAdditive,
          {.vector = w.vector},
          w.query.slice_columns(0, query_width),
          w.query.slice_columns(query_width, keys)};
}

ProjectedScore not_projected(Score score, const ScoreWeights& w, size_t) { return {score, w}; }

// Traits that most share; each entry says where it differs.
constexpr ScoreTraits kProduct{.learned = false,
                               .product = true,
                               .rotary = true,
                               .grouped = true,
                               .reads_keys = true,
                               .differentiable = true,
                               .fused = true};

template <typename Change>
constexpr ScoreTraits score_with(Change change) {
  ScoreTraits traits = kProduct;
  change(traits);
  return traits;
}

struct ScoreEntry {
  Score value;
  std::string_view name;
  ScoreTraits traits;
  PreparedScore (*prepare)(const ScoreInputs&);
  ScoreWeights (*weights)(const ScoreWeightSizes&, Rng&) = no_weights;
  ProjectedScore (*projected)(Score, const ScoreWeights&, size_t) = not_projected;
};
constexpr ScoreEntry kScores[] = {
    {Score::kDot, "dot", kProduct, dot},
    {Score::kScaledDot, "scaled_dot", kProduct, scaled_dot},
    {Score::kGeneral, "general",
     score_with([](ScoreTraits& t) { t.learned = true, t.rotary = false; }), general,
     general_weights, general_projected},
    {Score::kAdditive, "additive",
     score_with([](ScoreTraits& t) { t.learned = true, t.product = t.rotary = false; }), additive,
     additive_weights, additive_projected},
    {Score::kConcat, "concat",
     score_with([](ScoreTraits& t) { t.learned = true, t.product = t.rotary = t.grouped = false; }),
     concat_score, concat_weights, concat_projected},
    {Score::kCosine, "cosine", score_with([](ScoreTraits& t) { t.product = false; }), cosine},
    {Score::kDistance, "distance", score_with([](ScoreTraits& t) { t.product = t.fused = false; }),
     distance},
    {Score::kLocation, "location", score_with([](ScoreTraits& t) {
       t.learned = true, t.product = t.rotary = t.reads_keys = t.fused = false;
     }),
     location, location_weights},
};

const ScoreEntry& entry_of(Score score) {
  for (const ScoreEntry& entry : kScores) {
    if (entry.value == score) return entry;
  }
  throw ConfigError("attention: there is no score {}", static_cast<int>(score));
}

}  // namespace

std::string_view name_of(Score score) { return name_from_value(kScores, score); }

const ScoreTraits& traits_of(Score score) { return entry_of(score).traits; }

std::string scores_where(const std::function<bool(const ScoreTraits&)>& condition) {
  return names_where(kScores, [&](const ScoreEntry& entry) { return condition(entry.traits); });
}

ScoreWeights make_score_weights(Score score, const ScoreWeightSizes& sizes, Rng& rng) {
  return entry_of(score).weights(sizes, rng);
}

ProjectedScore projected_score(Score score, const ScoreWeights& weights, size_t query_width) {
  return entry_of(score).projected(score, weights, query_width);
}

std::span<const Score> all_scores() {
  static const std::vector<Score> all = [] {
    std::vector<Score> scores;
    for (const ScoreEntry& entry : kScores) scores.push_back(entry.value);
    return scores;
  }();
  return all;
}

PreparedScore prepare_score(const ScoreInputs& in) {
  PreparedScore prepared = entry_of(in.score).prepare(in);
  // The cosine's own factor belongs to it; another scale comes on top.
  if (in.scale) {
    prepared.scale = in.score == Score::kCosine ? prepared.scale * *in.scale : *in.scale;
  }
  return prepared;
}

}  // namespace attend
