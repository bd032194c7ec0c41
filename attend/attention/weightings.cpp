#include "attend/attention/weightings.h"

#include <algorithm>
#include <array>
#include <limits>

#include "attend/attention/scores.h"
#include "attend/attention/weighting_functions.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/kernels/softmax.h"
#include "attend/ops/linear.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend::weightings {
namespace {

using kernels::Activation;
using kernels::FusedWeighting;
using kernels::MutableRows;
using kernels::Rows;

constexpr float kMasked = -std::numeric_limits<float>::infinity();

// The keys that one query may look at.
struct AllowedKeys {
  const float* scores;
  size_t width;

  // Their elements of `row`, copied to `to`, which has room for all.
  std::span<float> gather(const float* row, float* to) const {
    size_t count = 0;
    for (size_t j = 0; j < width; ++j) {
      to[count] = row[j];
      count += scores[j] != kMasked;
    }
    return {to, count};
  }

  // Back to their places in `row`, or added to what is there; the other keys get 0.
  void scatter(std::span<const float> values, float* row, bool add) const {
    size_t count = 0;
    for (size_t j = 0; j < width; ++j) {
      const float value = scores[j] != kMasked ? values[count++] : 0.0f;
      row[j] = add ? row[j] + value : value;
    }
  }
};

// Calls body(row, its allowed keys, four rows of scratch) for all rows, in parallel.
template <typename Body>
void for_each_row(Rows scores, Body&& body) {
  constexpr size_t kScoresPerChunk = 4096;
  const size_t grain = kScoresPerChunk / std::max<size_t>(scores.width, 1) + 1;
  parallel_for(scores.count, grain, [&](size_t begin, size_t end) {
    const Tensor scratch = Tensor::empty({4, scores.width});
    for (size_t i = begin; i < end; ++i) {
      body(i, AllowedKeys{scores.row(i), scores.width}, mutable_rows_of(scratch));
    }
  });
}

template <void (*kWeigh)(const Row&)>
void each_row(const Matrix& m) {
  for_each_row(m.scores, [&](size_t i, const AllowedKeys& keys, const MutableRows& scratch) {
    const auto values = keys.gather(m.scores.row(i), scratch.row(0));
    if (!values.empty()) kWeigh({values, {scratch.row(1), values.size()}, m.options, i});
    keys.scatter(values, m.weights.row(i), false);
  });
}

template <void (*kDifferentiate)(const RowGradient&)>
void each_row_backward(const MatrixGradient& g) {
  for_each_row(g.scores, [&](size_t i, const AllowedKeys& keys, const MutableRows& scratch) {
    const auto scores = keys.gather(g.scores.row(i), scratch.row(0));
    const auto weights = keys.gather(g.weights.row(i), scratch.row(1));
    const auto gradient = keys.gather(g.dweights.row(i), scratch.row(2));
    const std::span spare(scratch.row(3), scores.size());
    if (!scores.empty()) kDifferentiate({scores, weights, gradient, spare});
    keys.scatter(gradient, g.dscores.row(i), g.add);
  });
}

struct Entry {
  Weighting value;
  std::string_view name;
  WeightingTraits traits;
  void (*forward)(const Matrix&);
  void (*backward)(const MatrixGradient&);  // null: nothing flows back through the weights
};

// Traits that most share; each entry says where it differs.
constexpr WeightingTraits kRows{.differentiable = true,
                                .ordered_keys = false,
                                .sampled = false,
                                .normalized = true,
                                .sinks = false,
                                .fused = {}};

template <typename Change>
constexpr WeightingTraits but(Change change) {
  WeightingTraits traits = kRows;
  change(traits);
  return traits;
}

constexpr Entry kWeightings[] = {
    {Weighting::kSoftmax, "softmax",
     but([](WeightingTraits& t) { t.sinks = true, t.fused = FusedWeighting::kSoftmax; }),
     each_row<softmax>, each_row_backward<softmax_backward>},
    {Weighting::kSigmoid, "sigmoid",
     but([](WeightingTraits& t) { t.normalized = false, t.fused = FusedWeighting::kSigmoid; }),
     each_row<activate<Activation::kSigmoid>>,
     each_row_backward<activate_backward<Activation::kSigmoid>>},
    {Weighting::kRelu, "relu",
     but([](WeightingTraits& t) { t.normalized = false, t.fused = FusedWeighting::kRelu; }),
     each_row<activate<Activation::kRelu>>,
     each_row_backward<activate_backward<Activation::kRelu>>},
    {Weighting::kIdentity, "identity", but([](WeightingTraits& t) { t.normalized = false; }),
     each_row<activate<Activation::kIdentity>>,
     each_row_backward<activate_backward<Activation::kIdentity>>},
    {Weighting::kSparsemax, "sparsemax", kRows, each_row<sparsemax>,
     each_row_backward<sparsemax_backward>},
    {Weighting::kEntmax15, "entmax15", kRows, each_row<entmax15>,
     each_row_backward<entmax15_backward>},
    {Weighting::kTopK, "top_k", kRows, each_row<top_k>, each_row_backward<softmax_backward>},
    {Weighting::kHardArgmax, "hard_argmax",
     but([](WeightingTraits& t) { t.differentiable = false; }), each_row<hard_argmax>, nullptr},
    {Weighting::kHardSample, "hard_sample",
     but([](WeightingTraits& t) { t.differentiable = false, t.sampled = true; }),
     each_row<hard_sample>, nullptr},
    {Weighting::kStraightThrough, "straight_through", kRows, each_row<hard_argmax>,
     each_row_backward<straight_through_backward>},
    {Weighting::kMonotonic, "monotonic",
     but([](WeightingTraits& t) { t.ordered_keys = true, t.normalized = false; }), monotonic,
     monotonic_backward},
    {Weighting::kMonotonicHard, "monotonic_hard", but([](WeightingTraits& t) {
       t.differentiable = t.normalized = false, t.ordered_keys = true;
     }),
     monotonic_hard, nullptr},
};

const Entry& entry_of(Weighting weighting) {
  const auto* entry = std::ranges::find(kWeightings, weighting, &Entry::value);
  if (entry == std::end(kWeightings)) {
    throw ConfigError("attention: there is no weighting {}", static_cast<int>(weighting));
  }
  return *entry;
}

void check(const Tensor& scores, const WeightingOptions& options) {
  if (scores.rank() != 2) {
    throw ShapeError("weigh: scores are {} but should be [queries, keys]; weigh one matrix a call",
                     scores.shape());
  }
  if (options.weighting == Weighting::kTopK && options.top_k == 0) {
    throw ConfigError("weigh: top_k is 0, which leaves no key to look at; let it be 1 or more");
  }
}

// The logarithm of the softmax at the key that was drawn. Its gradient,
//   dscores_i = dy_i (weights_i - softmax_i),
// times a reward, is that of the expected reward (REINFORCE; Williams, 1992).
Tensor log_probability(const Tensor& scores, const Tensor& weights) {
  using Scratch = MutableRows;
  Tensor y = Tensor::zeros({scores.extent(0)});
  for_each_row(rows_of(scores), [&](size_t i, const AllowedKeys& keys, const Scratch& scratch) {
    const auto logs = keys.gather(keys.scores, scratch.row(0));
    const auto drawn = keys.gather(rows_of(weights).row(i), scratch.row(1));
    if (logs.empty()) return;
    kernels::log_softmax(one_row(logs), one_row(logs));
    y.data()[i] = logs[static_cast<size_t>(std::ranges::find(drawn, 1.0f) - drawn.begin())];
  });
  return record(y, {scores}, [scores, weights](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(scores);
    for_each_row(rows_of(scores), [&](size_t i, const AllowedKeys& keys, const Scratch& scratch) {
      const auto p = keys.gather(keys.scores, scratch.row(0));
      const auto d = keys.gather(rows_of(weights).row(i), scratch.row(1));
      if (!p.empty()) kernels::softmax(one_row(p), one_row(p));
      for (size_t j = 0; j < d.size(); ++j) d[j] = dy.data()[i] * (d[j] - p[j]);
      keys.scatter(d, mutable_rows_of(dx.tensor).row(i), dx.add);
    });
  });
}

}  // namespace
}  // namespace attend::weightings

namespace attend {

using weightings::kWeightings;

std::string_view name_of(Weighting weighting) { return name_from_value(kWeightings, weighting); }

std::span<const Weighting> all_weightings() {
  static constexpr auto kAll = [] {
    std::array<Weighting, std::size(kWeightings)> all{};
    std::ranges::transform(kWeightings, all.begin(), &weightings::Entry::value);
    return all;
  }();
  return kAll;
}

void check_weighting(Weighting weighting) { weightings::entry_of(weighting); }

const WeightingTraits& traits_of(Weighting weighting) {
  return weightings::entry_of(weighting).traits;
}

std::string weightings_where(const std::function<bool(const WeightingTraits&)>& condition) {
  return names_where(kWeightings,
                     [&](const weightings::Entry& entry) { return condition(entry.traits); });
}

Weighted weigh(const Tensor& scores, const WeightingOptions& options) {
  weightings::check(scores, options);
  const weightings::Entry& entry = weightings::entry_of(options.weighting);
  const Tensor weights = Tensor::like(scores);
  entry.forward({rows_of(scores), mutable_rows_of(weights), options});
  if (options.weighting == Weighting::kHardSample) {
    return {weights, weightings::log_probability(scores, weights)};
  }
  if (entry.backward == nullptr) return {weights, {}};
  const auto backward = [scores, weights, run = entry.backward](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(scores);
    run({rows_of(scores), rows_of(weights), rows_of(dy), mutable_rows_of(dx.tensor), dx.add});
  };
  return {record(weights, {scores}, backward), {}};
}

namespace {

// matmul for values that hold NaN or infinity.
Tensor careful_sum(const Tensor& weights, const Tensor& values) {
  const size_t keys = weights.width(), width = values.width();
  const auto for_weights = [=](const auto& f) {  // all that are not 0, and their values
    for (size_t i = 0; i < weights.rows(); ++i) {
      for (size_t j = 0; j < keys; ++j) {
        const float w = weights.data()[i * weights.stride() + j];
        if (w != 0.0f) f(i, j, w, values.data() + j * values.stride());
      }
    }
  };
  const Tensor y = Tensor::zeros({weights.rows(), width});
  for_weights([&](size_t i, size_t, float w, const float* value) {
    for (size_t c = 0; c < width; ++c) y.data()[i * width + c] += w * value[c];
  });
  return record(y, {weights, values}, [=](const Tensor& dy, Grads& grads) {
    float* dweights = grads.wants(weights) ? grads.accumulator(weights) : nullptr;
    float* dvalues = grads.wants(values) ? grads.accumulator(values) : nullptr;
    for_weights([&](size_t i, size_t j, float w, const float* value) {
      const float* d = dy.data() + i * dy.stride();
      for (size_t c = 0; c < width; ++c) {
        if (dweights != nullptr) dweights[i * weights.stride() + j] += d[c] * value[c];
        if (dvalues != nullptr) dvalues[j * values.stride() + c] += d[c] * w;
      }
    });
  });
}

}  // namespace

Tensor weighted_sum(const Tensor& weights, const Tensor& values) {
  return all_finite(values) ? matmul(weights, values) : careful_sum(weights, values);
}

}  // namespace attend
