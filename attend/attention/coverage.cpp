#include "attend/attention/coverage.h"

#include <algorithm>
#include <cmath>

#include "attend/attention/intervention.h"
#include "attend/attention/problem.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/ops/conv.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<Remembered> kRemembered[] = {{Remembered::kLast, "last"},
                                             {Remembered::kSum, "sum"}};

CoverageConfig resolved(CoverageConfig c) {
  if (c.width == 0) throw ConfigError("coverage: width 0; it is that of the queries");
  if (c.key_width == 0) c.key_width = c.width;
  if (c.hidden == 0) c.hidden = c.width;
  if ((c.filters == 0) != (c.filter_width == 0) || (c.filters > 0 && c.filter_width % 2 == 0)) {
    throw ConfigError(
        "coverage: {} filters of width {}; give both, the width odd, or neither of them", c.filters,
        c.filter_width);
  }
  return c;
}

void check(const CoverageConfig& c, const Tensor& q, const CoverageSource& source,
           const CoverageState& state) {
  if (!(source.packing == state.alignment.keys)) {
    throw ShapeError(
        "coverage: a state of {} sources with {} rows, but these are {} with {}; start one from "
        "the source it looks at",
        state.alignment.keys.count(), state.alignment.keys.rows(), source.packing.count(),
        source.packing.rows());
  }
  if (q.shape() != Shape{state.alignment.queries(), c.width}) {
    throw ShapeError("coverage: queries are {}, not [{}, {}]: one for each sequence", q.shape(),
                     state.alignment.queries(), c.width);
  }
}

// What a step is made of, for a Recorder.
struct StepParts {
  Tensor q, k, values, vector, location, features;
};

// What a sequence's row is made of: `rows` of them are wanted, one or none.
HeadParts parts_of(const StepParts& step, const Alignment& at, size_t sequence, size_t rows) {
  const NoGrad no_grad;
  const size_t source = at.sources[sequence], pairs = rows * at.pairs.length(sequence);
  const auto of_keys = [&](const Tensor& x) {
    return x.detach().slice_rows(at.keys.begin(source), at.keys.length(source));
  };
  return {.score = Score::kAdditive,
          .core = ScoreCore::kAdditive,
          .q = step.q.detach().slice_rows(sequence, rows),
          .k = of_keys(step.k),
          .v = of_keys(step.values),
          .vector = step.vector.detach(),
          .key_terms =
              linear(step.features.slice_rows(at.pairs.begin(sequence), pairs), step.location)};
}

// Hands over each sequence's row of weights.
void hand_over(const std::string& name, const CoverageState& state, const Tensor& weights,
               const Tensor& scores, const StepParts& step) {
  if (current_recorder() == nullptr) return;
  const Packing& pairs = state.alignment.pairs;
  const AttentionProblem seen =
      problem_of_layer(name, Packing::even(pairs.count(), 1), state.steps);
  const Recording recording(seen);
  if (!recording) return;
  for (size_t s = 0; s < pairs.count(); ++s) {
    const auto row = [&](const Tensor& x) {
      return x.slice_rows(pairs.begin(s), pairs.length(s)).reshape({1, pairs.length(s)});
    };
    if (!recording.wants(s, 0)) continue;
    std::optional<HeadParts> parts;
    if (recording.wants_parts()) {
      parts = parts_of(step, state.alignment, s, recording.queries(s).count);
    }
    recording.give_rows(s, 0, row(weights), row(scores), std::move(parts));
  }
}

// What an intervention leaves of the scores or of the weights, [pairs], sequence by sequence.
using Change = Tensor (Intervention::*)(const HeadCall&, const Tensor&) const;
Tensor changed(const std::string& name, const CoverageState& state, const Tensor& x,
               const Intervention& intervention, Change change) {
  const Packing& pairs = state.alignment.pairs;
  std::vector<Tensor> rows;
  for (size_t s = 0; s < pairs.count(); ++s) {
    const size_t keys = pairs.length(s);
    const Tensor row = reshape(x.slice_rows(pairs.begin(s), keys), {1, keys});
    const HeadCall call{name, 0, static_cast<size_t>(state.steps[s])};
    rows.push_back(reshape((intervention.*change)(call, row), {keys}));
  }
  return rows.empty() ? x : concat(rows, 0);
}

}  // namespace

std::string_view name_of(Remembered remembered) { return name_from_value(kRemembered, remembered); }

void CoverageState::reorder(std::span<const size_t> parents) {
  remembered = reorder_pairs(alignment, remembered, parents);
  alignment = alignment.reordered(parents);
  std::vector<int32_t> taken;
  for (const size_t parent : parents) taken.push_back(steps[parent]);
  steps = std::move(taken);
}

void CoverageState::admit(const CoverageState& more) {
  std::vector<size_t> sources = alignment.sources;
  for (const size_t source : more.alignment.sources) {
    sources.push_back(alignment.keys.count() + source);
  }
  alignment = Alignment(alignment.keys.followed_by(more.alignment.keys), std::move(sources));
  remembered = concat({remembered, more.remembered}, 0);
  steps.insert(steps.end(), more.steps.begin(), more.steps.end());
}

void CoverageState::retire_sources(std::span<const size_t> kept) {
  std::vector<size_t> sources = alignment.sources;
  for (size_t& source : sources) {
    source = static_cast<size_t>(std::ranges::find(kept, source) - kept.begin());
  }
  alignment = Alignment(alignment.keys.pick(kept), std::move(sources));
}

CoverageAttention::CoverageAttention(const CoverageConfig& c, Rng& rng)
    : config(resolved(c)),
      query(config.width, config.hidden, rng),
      key(config.key_width, config.hidden, rng, {.bias = false}),
      location(std::max<size_t>(config.filters, 1), config.hidden, rng, {.bias = false}),
      vector(parameter({config.hidden}, Init::kUniform, rng,
                       1.0f / std::sqrt(static_cast<float>(config.hidden)))) {
  if (config.filters > 0) {
    filters = parameter({config.filters, 1, config.filter_width}, Init::kFanIn, rng);
  }
}

CoverageSource CoverageAttention::remember(const Tensor& k, const Tensor& values,
                                           const Packing& packing) const {
  if (k.shape() != Shape{packing.rows(), config.key_width} || values.rank() != 2 ||
      values.rows() != packing.rows()) {
    throw ShapeError("coverage: keys are {} and values {}, not [{}, {}] and [{}, any]", k.shape(),
                     values.shape(), packing.rows(), config.key_width, packing.rows());
  }
  return {key(k), values, packing};
}

CoverageState CoverageAttention::start(const CoverageSource& source) const {
  const Alignment alignment(source.packing);
  return {alignment, Tensor::zeros({alignment.pairs.rows()}),
          std::vector<int32_t>(alignment.queries(), 0)};
}

CoverageAttention::Step CoverageAttention::step(const Tensor& q, const CoverageSource& source,
                                                CoverageState& state) const {
  check(config, q, source, state);
  const Intervention* const intervention = intervention_in(name);
  const Alignment& at = state.alignment;
  Tensor features = reshape(state.remembered, {at.pairs.rows(), 1});
  if (filters.defined()) {
    const size_t reach = config.filter_width / 2;
    features = conv1d(features, at.pairs, filters, {}, {.left = reach, .right = reach}).rows;
  }
  const Tensor projected = query(q);
  Tensor scores =
      alignment_scores(at, {projected, source.keys, vector, location.weight.matrix(), features});
  if (intervention != nullptr) {
    scores = changed(name, state, scores, *intervention, &Intervention::scores);
  }
  Tensor weights = alignment_softmax(at, scores);
  if (intervention != nullptr) {
    weights = changed(name, state, weights, *intervention, &Intervention::weights);
  }
  hand_over(name, state, weights, scores,
            {projected, source.keys, source.values, vector, location.weight.matrix(), features});
  const bool sum = config.remembered == Remembered::kSum;
  state.remembered = sum ? add(state.remembered, weights) : weights;
  for (int32_t& taken : state.steps) ++taken;
  return {alignment_sum(at, weights, source.values), weights};
}

void CoverageAttention::visit(Visitor& v) {
  v("query", query);
  v("key", key);
  v("location", location);
  v("filters", filters);
  v("vector", vector);
}

Tensor coverage_loss(const Alignment& at, const Tensor& weights, const Tensor& coverage) {
  const size_t pairs = at.pairs.rows();
  if (weights.shape() != Shape{pairs} || coverage.shape() != Shape{pairs}) {
    throw ShapeError("coverage_loss: weights {} and coverage {} of {} pairs", weights.shape(),
                     coverage.shape(), pairs);
  }
  const Tensor y = Tensor::zeros({at.queries()});
  for (size_t i = 0; i < at.queries(); ++i) {
    for (size_t j = at.pairs.begin(i); j < at.pairs.end(i); ++j) {
      y.data()[i] += std::min(weights.data()[j], coverage.data()[j]);
    }
  }
  return record(y, {weights, coverage}, [=](const Tensor& dy, Grads& grads) {
    float* dweights = grads.wants(weights) ? grads.accumulator(weights) : nullptr;
    float* dcoverage = grads.wants(coverage) ? grads.accumulator(coverage) : nullptr;
    for (size_t i = 0; i < at.queries(); ++i) {
      for (size_t j = at.pairs.begin(i); j < at.pairs.end(i); ++j) {
        float* less = weights.data()[j] < coverage.data()[j] ? dweights : dcoverage;
        if (less != nullptr) less[j] += dy.data()[i];
      }
    }
  });
}

}  // namespace attend
