#include "attend/attention/lstmn.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attend/attention/attention.h"
#include "attend/attention/intervention.h"
#include "attend/attention/problem.h"
#include "attend/base/error.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/recurrent_schedule.h"
#include "attend/ops/shape.h"
#include "attend/ops/unrolled.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// One row of each step, of which the first `count` have the slot.
Tensor rows_of_slot(const std::vector<Tensor>& steps, size_t slot, size_t count) {
  const size_t width = steps.back().width();
  Tensor rows = Tensor::zeros({count, width});
  for (size_t t = 0; t < count; ++t) {
    if (!steps[t].defined()) continue;
    std::copy_n(steps[t].data() + slot * steps[t].stride(), width, rows.data() + t * width);
  }
  return rows;
}

// What the weights of a sequence of so many steps are made of, for the queries that are wanted.
HeadParts parts_of(const Lstmn& layer, const std::vector<Recalled>& steps,
                   const std::vector<PastStep>& past, size_t slot, size_t length,
                   Recording::Span wanted) {
  std::vector<Tensor> queries, keys, values;
  for (const Recalled& step : steps) queries.push_back(step.query);
  for (const PastStep& step : past) {
    const NoGrad no_grad;
    keys.push_back(step.key);
    values.push_back(concat({step.h, step.c}, 1));
  }
  if (!queries.back().defined()) queries.back() = Tensor::zeros({1, layer.config.attention});
  HeadParts parts{.score = Score::kAdditive,
                  .core = ScoreCore::kAdditive,
                  .q = rows_of_slot(queries, slot, length).slice_rows(wanted.first, wanted.count),
                  .k = rows_of_slot(keys, slot, length),
                  .v = rows_of_slot(values, slot, length),
                  .vector = layer.vector.detach()};
  for (size_t t = wanted.first; t < wanted.first + wanted.count; ++t) {
    for (size_t i = 0; i < length; ++i) {
      parts.masked.push_back(i < t ? MaskedBy::kNothing : MaskedBy::kCausal);
    }
  }
  return parts;
}

// Hands over the weights of each sequence as a matrix of its steps, of which each looks at those
// before it.
void hand_over(const Lstmn& layer, const Recording& recording, const Packing& packing,
               const RecurrentSchedule& schedule, const std::vector<Recalled>& steps,
               const std::vector<PastStep>& past) {
  for (size_t slot = 0; slot < packing.count(); ++slot) {
    const auto s = static_cast<size_t>(schedule.sequences[slot]);
    const size_t length = packing.length(s);
    if (!recording.wants(s, 0)) continue;
    const Tensor weights = Tensor::zeros({length, length});
    const Tensor scores = Tensor::full({length, length}, -std::numeric_limits<float>::infinity());
    for (size_t t = 1; t < length; ++t) {
      const Recalled& step = steps[t];
      std::copy_n(step.weights.data() + slot * t, t, weights.data() + t * length);
      std::copy_n(step.scores.data() + slot * t, t, scores.data() + t * length);
    }
    std::optional<HeadParts> parts;
    if (recording.wants_parts() && length > 0) {
      parts = parts_of(layer, steps, past, slot, length, recording.queries(s));
    }
    recording.give_rows(s, 0, weights, scores, std::move(parts));
  }
}

Tensor pick(const Tensor& x, const std::vector<int32_t>& rows) {
  return gather_rows(x, Tensor::ids(rows, {rows.size()}));
}

// What a step multiplies with: layers as they are, or laid out for all steps of a walk.
struct StepLayers {
  std::function<Tensor(const Tensor&)> from_mixture, from_hidden;
  std::function<RecurrentState(const Tensor& x, const RecurrentState& before)> cell;
};

StepLayers layers_of(const Lstmn& layer) {
  return {layer.from_mixture, layer.from_hidden,
          [&layer](const Tensor& x, const RecurrentState& before) {
            return recurrent(x, Packing::even(x.rows(), 1), layer.lstm, before).state;
          }};
}

// For the rows of x, step after step; the cell knows them already.
StepLayers layers_of(const Lstmn& layer, const Tensor& x) {
  const auto unrolled = [&](const Linear& linear) -> std::function<Tensor(const Tensor&)> {
    if (!linear.weight.value.defined()) return linear;  // it is packed
    return UnrolledLinear(linear.weight.matrix(), linear.bias, x.rows());
  };
  const UnrolledCell cell(layer.lstm, {.rows = x.rows(), .known = x});
  return {
      unrolled(layer.from_mixture), unrolled(layer.from_hidden),
      [cell](const Tensor& /*x*/, const RecurrentState& before) { return cell.step({}, before); }};
}

// The next step of the first x.rows() sequences; compared = W_x x. Nothing is recalled at the
// first.
Recalled advance(const Lstmn& layer, const StepLayers& layers, const Tensor& x,
                 const Tensor& compared, LstmnState& state) {
  const size_t hidden = layer.config.hidden;
  Recalled recalled;
  RecurrentState before;
  if (state.past.empty()) {
    const Tensor zeros = Tensor::zeros({x.rows(), hidden});
    before = {zeros, zeros};
  } else {
    Tensor q = compared;
    if (state.mixture.defined()) {
      const Tensor mixture = state.mixture.slice_rows(0, x.rows());
      q = add(q, layers.from_mixture(mixture.slice_columns(0, hidden)));
    }
    const Intervention* const intervention = intervention_in(layer.name);
    recalled = intervention == nullptr
                   ? recall(q, layer.vector, state.past)
                   : recall(q, layer.vector, state.past, *intervention, layer.name);
    recalled.query = q.detach();
    state.mixture = recalled.mixture;
    before = {state.mixture.slice_columns(0, hidden), state.mixture.slice_columns(hidden, hidden)};
  }
  const RecurrentState now = layers.cell(x, before);
  state.past.push_back({layers.from_hidden(now.h), now.h, now.c});
  return recalled;
}

// m of the last step of these sequences, [sequences, hidden]; zeros where there was none.
Tensor last_mixtures(const KeyValueCache& cache, std::span<const size_t> sequences, size_t hidden) {
  Tensor mixtures = Tensor::zeros({sequences.size(), hidden});
  for (size_t i = 0; i < sequences.size(); ++i) {
    const auto steps = static_cast<size_t>(cache.lengths()[sequences[i]]);
    if (steps == 0) continue;
    const size_t row = sequences[i] * cache.capacity() + steps - 1;
    std::copy_n(cache.values().data() + row * cache.values().stride() + 2 * hidden, hidden,
                mixtures.data() + i * hidden);
  }
  return mixtures;
}

// Mixtures of (h, c) for the next step of the sequences that have a row in `live`, [rows, 2
// hidden].
Tensor recall_cached(const Lstmn& layer, const Tensor& q, const Packing& live,
                     const KeyValueCache& cache) {
  const size_t hidden = layer.config.hidden;
  AttentionOptions options;
  options.queries = live;
  options.keys = cache.packing();
  options.key_lengths.assign(cache.lengths().begin(), cache.lengths().end());
  options.score = Score::kAdditive;
  options.score_weights.vector = layer.vector;
  options.name = layer.name;
  options.earlier.queries = options.key_lengths;
  const bool any = cache.keys().defined();
  const Tensor keys = any ? cache.keys() : Tensor::empty({0, q.width()});
  const Tensor values =
      any ? cache.values().slice_columns(0, 2 * hidden) : Tensor::empty({0, 2 * hidden});
  return attention(q, keys, values, options).output;
}

// Hands over a row for each sequence: where step t looked among the t before it.
void hand_over(const std::string& name, size_t sequences, size_t t, const Recalled& step) {
  if (current_recorder() == nullptr) return;
  const AttentionProblem seen = problem_of_layer(
      name, Packing::even(sequences, 1), std::vector<int32_t>(sequences, static_cast<int32_t>(t)));
  const Recording recording(seen);
  if (!recording) return;
  for (size_t s = 0; s < sequences; ++s) {
    const auto row = [&](const Tensor& x) {
      return t == 0 ? Tensor::empty({1, 0}) : x.slice_rows(s, 1);
    };
    if (recording.wants(s, 0)) recording.give_rows(s, 0, row(step.weights), row(step.scores));
  }
}

}  // namespace

void LstmnState::reorder(std::span<const size_t> parents) {
  std::vector<int32_t> rows;
  for (const size_t parent : parents) {
    if (parent >= sequences) {
      throw ShapeError("lstmn: there is no sequence {} among {}", parent, sequences);
    }
    rows.push_back(static_cast<int32_t>(parent));
  }
  for (PastStep& step : past) {
    step = {pick(step.key, rows), pick(step.h, rows), pick(step.c, rows)};
  }
  if (mixture.defined()) mixture = pick(mixture, rows);
  sequences = parents.size();
}

Lstmn::Lstmn(const LstmnConfig& c, Rng& rng) : config(c) {
  if (c.input == 0 || c.hidden == 0) {
    throw ConfigError("lstmn: input {} and hidden {} must be at least 1", c.input, c.hidden);
  }
  if (config.attention == 0) config.attention = config.hidden;
  from_hidden = Linear(config.hidden, config.attention, rng);
  from_input = Linear(config.input, config.attention, rng, {.bias = false});
  from_mixture = Linear(config.hidden, config.attention, rng, {.bias = false});
  const auto uniform = [&](const Shape& shape, size_t in) {
    return parameter(shape, Init::kUniform, rng, 1.0f / std::sqrt(static_cast<float>(in)));
  };
  vector = uniform({config.attention}, config.attention);
  const size_t gates = gate_count(Cell::kLstm) * config.hidden;
  lstm.input = uniform({gates, config.input}, config.hidden);
  lstm.hidden = uniform({gates, config.hidden}, config.hidden);
  lstm.input_bias = uniform({gates}, config.hidden);
}

Tensor Lstmn::operator()(const Tensor& x, const Packing& packing) const {
  if (x.rank() != 2 || x.rows() != packing.rows() || x.width() != config.input) {
    throw ShapeError("lstmn: {} is not [{}, {}]", x.shape(), packing.rows(), config.input);
  }
  const AttentionProblem seen = problem_of_layer(name, packing);
  const Recording recording(seen);
  const RecurrentSchedule schedule(packing);
  const Tensor walked = pick(x, schedule.rows), compared = from_input(walked);
  if (schedule.steps.empty()) return no_rows(config.hidden, std::vector{compared});
  const StepLayers layers = layers_of(*this, walked);
  LstmnState state{.sequences = packing.count()};
  std::vector<Recalled> recalled;
  std::vector<Tensor> outputs;
  for (const auto& [row, count] : schedule.steps) {
    Recalled step = advance(*this, layers, walked.slice_rows(row, count),
                            compared.slice_rows(row, count), state);
    if (recording) recalled.push_back(std::move(step));
    outputs.push_back(state.past.back().h);
  }
  if (recording) hand_over(*this, recording, packing, schedule, recalled, state.past);
  std::vector<int32_t> places(schedule.rows.size());
  for (size_t i = 0; i < places.size(); ++i) {
    places[static_cast<size_t>(schedule.rows[i])] = static_cast<int32_t>(i);
  }
  return pick(concat(outputs, 0), places);
}

LstmnState Lstmn::start(size_t sequences) const { return {.sequences = sequences}; }

Tensor Lstmn::step(const Tensor& x, LstmnState& state) const {
  if (x.shape() != Shape{state.sequences, config.input}) {
    throw ShapeError("lstmn: a step of {}, not [{}, {}]: one row for each sequence", x.shape(),
                     state.sequences, config.input);
  }
  const size_t t = state.past.size();
  hand_over(name, state.sequences, t, advance(*this, layers_of(*this), x, from_input(x), state));
  return state.past.back().h;
}

Tensor Lstmn::step(const Tensor& x, const Packing& packing, KeyValueCache& cache) const {
  if (x.rank() != 2 || x.rows() != packing.rows() || x.width() != config.input ||
      packing.count() != cache.sequences()) {
    throw ShapeError(
        "lstmn: a step of {}, {} rows of {} sequences, does not fit an input {} wide and a cache "
        "of {}",
        x.shape(), packing.rows(), packing.count(), config.input, cache.sequences());
  }
  const NoGrad no_grad;
  const size_t hidden = config.hidden;
  const Tensor compared = from_input(x);
  Tensor y = Tensor::empty({x.rows(), hidden});
  for (size_t t = 0; t < packing.longest(); ++t) {
    std::vector<size_t> sequences;
    std::vector<int32_t> rows, live(packing.count(), 0);
    for (size_t s = 0; s < packing.count(); ++s) {
      if (packing.length(s) <= t) continue;
      sequences.push_back(s);
      rows.push_back(static_cast<int32_t>(packing.begin(s) + t));
      live[s] = 1;
    }
    const Packing one_each(live);
    const Tensor q =
        add(pick(compared, rows), from_mixture(last_mixtures(cache, sequences, hidden)));
    const Tensor mixture = recall_cached(*this, q, one_each, cache);
    const Tensor m = mixture.slice_columns(0, hidden), n = mixture.slice_columns(hidden, hidden);
    const RecurrentState now =
        recurrent(pick(x, rows), Packing::even(rows.size(), 1), lstm, {m, n}).state;
    cache.append(one_each, from_hidden(now.h), concat({now.h, now.c, m}, -1));
    for (size_t i = 0; i < rows.size(); ++i) {
      std::ranges::copy(now.h.slice_rows(i, 1).span(),
                        y.slice_rows(static_cast<size_t>(rows[i]), 1).span().begin());
    }
  }
  return y;
}

void Lstmn::visit(Visitor& v) {
  v("from_hidden", from_hidden);
  v("from_input", from_input);
  v("from_mixture", from_mixture);
  v("vector", vector);
  v("weight_ih", lstm.input);
  v("weight_hh", lstm.hidden);
  v("bias", lstm.input_bias);
}

}  // namespace attend
