#include "attend/attention/local.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend/attention/intervention.h"
#include "attend/attention/problem.h"
#include "attend/base/error.h"
#include "attend/ops/activations.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/shape.h"
#include "attend/ops/softmax.h"

namespace attend {
namespace {

LocalConfig resolved(LocalConfig c) {
  if (c.width == 0 || c.reach == 0) {
    throw ConfigError("local attention: width {} and reach {} must be at least 1", c.width,
                      c.reach);
  }
  if (c.key_width == 0) c.key_width = c.width;
  if (c.hidden == 0) c.hidden = c.width;
  const ScoreTraits& traits = traits_of(c.score);
  if (!traits.reads_keys) {
    throw ConfigError(
        "local attention: score {} does not read keys, which is all that a window of them is for; "
        "use {}",
        name_of(c.score), scores_where(&ScoreTraits::reads_keys));
  }
  if (!traits.learned && c.key_width != c.width) {
    throw ConfigError(
        "local attention: score {} compares queries of width {} with keys of width {}; use "
        "general, or another score with a weight",
        name_of(c.score), c.width, c.key_width);
  }
  return c;
}

void check(const LocalConfig& c, const LocalAttention::Inputs& in) {
  const auto is = [](const Tensor& x, const Packing& packing) {
    return x.rank() == 2 && x.rows() == packing.rows();
  };
  if (!is(in.q, in.queries) || !is(in.k, in.keys) || !is(in.v, in.keys) ||
      in.q.width() != c.width || in.k.width() != c.key_width ||
      in.queries.count() != in.keys.count()) {
    throw ShapeError(
        "local attention: queries {}, keys {} and values {} do not fit {} sequences of {} rows and "
        "{} of {}, or widths {} and {}",
        in.q.shape(), in.k.shape(), in.v.shape(), in.queries.count(), in.queries.rows(),
        in.keys.count(), in.keys.rows(), c.width, c.key_width);
  }
}

// s - p of each pair: centres [queries, 1] to [queries, keys].
Tensor distances(const Tensor& centres, size_t keys) {
  const Tensor places = Tensor::empty({keys});
  std::iota(places.data(), places.data() + keys, 0.0f);
  return add(matmul(centres, Tensor::full({1, keys}, -1.0f)), places);
}

// Scores within reach, -infinity elsewhere.
Tensor within(const Tensor& scores, const Tensor& distance, size_t reach) {
  const Tensor near = Tensor::empty(scores.shape(), DType::kInt32);
  for (size_t i = 0; i < near.size(); ++i) {
    near.indices()[i] = std::abs(distance.data()[i]) <= static_cast<float>(reach);
  }
  return where(near, scores, Tensor::full(scores.shape(), -std::numeric_limits<float>::infinity()));
}

Tensor bell(const Tensor& distance, size_t reach) {
  const float sigma = static_cast<float>(reach) / 2.0f;
  return exp(scale(multiply(distance, distance), -1.0f / (2.0f * sigma * sigma)));
}

// From scores that are -infinity out of reach.
std::vector<MaskedBy> masked_by_reach(const Tensor& near) {
  std::vector<MaskedBy> reasons;
  for (const float score : near.to_vector()) {
    reasons.push_back(std::isinf(score) ? MaskedBy::kWindow : MaskedBy::kNothing);
  }
  return reasons;
}

}  // namespace

Mask local_mask(size_t reach, size_t first) {
  Mask mask;
  constexpr size_t kMost = std::numeric_limits<int64_t>::max();
  mask.q_offset = {static_cast<int64_t>(std::min(first, kMost))};
  mask.left = mask.right = static_cast<int64_t>(std::min(reach, kMost));
  return mask;
}

LocalAttention::LocalAttention(const LocalConfig& c, Rng& rng)
    : config(resolved(c)),
      centre(config.width, config.hidden, rng, {.bias = false}),
      vector(parameter({config.hidden}, Init::kUniform, rng,
                       1.0f / std::sqrt(static_cast<float>(config.hidden)))) {
  const ScoreWeights made = make_score_weights(
      config.score,
      {.query_width = config.width, .key_width = config.key_width, .hidden = config.hidden}, rng);
  score_weight = made.query;
  score_key = made.key;
  score_vector = made.vector;
}

Tensor LocalAttention::centres(const Tensor& q, const Packing& queries, const Packing& keys) const {
  const Tensor share = linear(centre(q, Activation::kTanh), reshape(vector, {1, config.hidden}), {},
                              Activation::kSigmoid);
  const Tensor lengths = Tensor::empty({q.rows(), 1});
  for (size_t s = 0; s < queries.count(); ++s) {
    std::fill(lengths.data() + queries.begin(s), lengths.data() + queries.end(s),
              static_cast<float>(keys.length(s)));
  }
  return multiply(share, lengths);
}

Tensor LocalAttention::operator()(const Inputs& in) const {
  check(config, in);
  const ScoreWeights weights{.query = score_weight, .key = score_key, .vector = score_vector};
  const PreparedScore score =
      prepare_score({config.score, weights, in.q, in.k, 1, 1, std::nullopt});
  const Tensor p = centres(in.q, in.queries, in.keys);
  const Intervention* const intervention = intervention_in(name);
  const AttentionProblem seen = problem_of_layer(name, in.queries, in.earlier);
  const Recording recording(seen);
  std::vector<Tensor> outputs;
  for (size_t s = 0; s < in.queries.count(); ++s) {
    const auto queries_of = [&](const Tensor& x) {
      return x.slice_rows(in.queries.begin(s), in.queries.length(s));
    };
    const auto keys_of = [&](const Tensor& x) {
      return x.slice_rows(in.keys.begin(s), in.keys.length(s));
    };
    const size_t keys = in.keys.length(s);
    const Tensor distance = distances(queries_of(p), keys);
    const Tensor all =
        core_scores(score.core, queries_of(score.q), keys_of(score.k), score.vector, keys);
    const HeadCall call{name, 0, seen.first_query(s)};
    Tensor near = within(scale(all, score.scale), distance, config.reach);
    if (intervention != nullptr) near = intervention->scores(call, near);
    const Tensor factors = bell(distance, config.reach);
    Tensor w = multiply(softmax(near), factors);
    if (intervention != nullptr) w = intervention->weights(call, w);
    if (recording && recording.wants(s, 0)) {
      std::optional<HeadParts> parts;
      if (recording.wants_parts()) {
        const auto [first, count] = recording.queries(s);
        const auto wanted = [&, from = first, rows = count](const Tensor& x) {
          return x.detach().slice_rows(from, rows);
        };
        parts = HeadParts{.score = config.score,
                          .core = score.core,
                          .q = wanted(queries_of(score.q)),
                          .k = keys_of(score.k).detach(),
                          .v = keys_of(in.v).detach(),
                          .vector = score.vector.defined() ? score.vector.detach() : Tensor(),
                          .factors = wanted(factors),
                          .masked = masked_by_reach(wanted(near)),
                          .scale = score.scale};
      }
      recording.give_rows(s, 0, w, near, std::move(parts));
    }
    outputs.push_back(weighted_sum(w, keys_of(in.v)));
  }
  return outputs.empty() ? no_rows(in.v.width(), std::vector{p, score.q, score.k, in.v})
                         : concat(outputs, 0);
}

void LocalAttention::visit(Visitor& v) {
  v("centre", centre);
  v("vector", vector);
  v("score_weight", score_weight);
  v("score_key", score_key);
  v("score_vector", score_vector);
}

}  // namespace attend
