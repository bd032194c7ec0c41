// Attention that remembers where it looked, against its equations in double, step by step.
#include "attend/attention/coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"
#include "attend/base/parallel.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/reduce.h"
#include "attend/ops/shape.h"
#include "tests/attention/modules.h"
#include "tests/names.h"

namespace attend {
namespace {

CoverageAttention make_coverage(const CoverageConfig& config) {
  Rng rng(1);
  CoverageAttention layer(config, rng);
  randomize(layer, 0.8f);
  return layer;
}

const CoverageConfig kConfigs[] = {
    {.width = 4, .key_width = 5, .hidden = 6},  // coverage
    {.width = 4, .key_width = 5, .hidden = 6, .remembered = Remembered::kLast},
    {.width = 4,
     .key_width = 5,
     .hidden = 6,
     .remembered = Remembered::kLast,  // location-aware
     .filters = 3,
     .filter_width = 5},
    {.width = 4, .key_width = 5, .hidden = 6, .filters = 2, .filter_width = 3},
};

struct CoverageInputs {
  Packing packing = Packing::of({3, 0, 7, 1});
  Tensor keys = random_tensor({11, 5}, 1), values = random_tensor({11, 3}, 2);

  CoverageSource source(const CoverageAttention& layer) const {
    return layer.remember(keys, values, packing);
  }
  static Tensor query(size_t t) { return random_tensor({4, 4}, 10 + t, 1.5f); }
};

using Row = std::vector<double>;

double at(const Tensor& x, size_t i, size_t j) { return double{x.data()[i * x.stride() + j]}; }

// One step of one sequence: what is remembered of its keys, to weights.
Row weights_by_definition(const CoverageAttention& layer, const float* q, const Tensor& keys,
                          const Row& remembered) {
  const size_t count = keys.rows(), hidden = layer.config.hidden;
  const size_t features = std::max<size_t>(layer.config.filters, 1);
  Row weights(count);
  double total = 0.0;
  for (size_t j = 0; j < count; ++j) {
    Row f(features, remembered[j]);
    for (size_t n = 0; n < layer.config.filters; ++n) {
      f[n] = 0.0;
      for (size_t r = 0; r < layer.config.filter_width; ++r) {
        const size_t place = j + r - layer.config.filter_width / 2;  // wraps below 0
        if (place < count) {
          f[n] += layer.filters.data()[n * layer.config.filter_width + r] * remembered[place];
        }
      }
    }
    double score = 0.0;
    for (size_t a = 0; a < hidden; ++a) {
      double z = layer.query.bias.data()[a];
      for (size_t c = 0; c < 4; ++c) z += at(layer.query.weight.value, a, c) * q[c];
      for (size_t c = 0; c < 5; ++c) z += at(layer.key.weight.value, a, c) * at(keys, j, c);
      for (size_t n = 0; n < features; ++n) z += at(layer.location.weight.value, a, n) * f[n];
      score += layer.vector.data()[a] * std::tanh(z);
    }
    total += weights[j] = std::exp(score);
  }
  for (double& w : weights) w /= total;
  return weights;
}

TEST(Coverage, IsThatOfThePapersForEachSequence) {
  const CoverageInputs in;
  for (const CoverageConfig& config : kConfigs) {
    const CoverageAttention layer = make_coverage(config);
    const CoverageSource source = in.source(layer);
    CoverageState state = layer.start(source);
    std::vector<Row> remembered;
    for (size_t s = 0; s < 4; ++s) remembered.emplace_back(in.packing.length(s), 0.0);
    for (size_t t = 0; t < 4; ++t) {
      const Tensor q = CoverageInputs::query(t);
      const auto [output, weights] = layer.step(q, source, state);
      ASSERT_EQ(output.shape(), (Shape{4, 3}));
      for (size_t s = 0; s < 4; ++s) {
        const size_t begin = in.packing.begin(s), count = in.packing.length(s);
        const Row expected = weights_by_definition(layer, q.data() + s * 4,
                                                   in.keys.slice_rows(begin, count), remembered[s]);
        Row sum(3, 0.0);
        for (size_t j = 0; j < count; ++j) {
          ASSERT_NEAR(weights.data()[begin + j], expected[j], 1e-5) << t << " " << s;
          for (size_t c = 0; c < 3; ++c) sum[c] += expected[j] * at(in.values, begin + j, c);
          if (config.remembered == Remembered::kLast) remembered[s][j] = 0.0;
          remembered[s][j] += expected[j];
        }
        for (size_t c = 0; c < 3; ++c) ASSERT_NEAR(at(output, s, c), sum[c], 1e-5) << t << " " << s;
      }
    }
    EXPECT_EQ(state.steps, std::vector<int32_t>(state.steps.size(), 4));
  }
}

// Three steps, of which each starts from what the one before gave: weights reach the loss through
// outputs, through all later steps, and through the coverage loss.
TEST(Coverage, GradientsFlowThroughAllSteps) {
  for (const CoverageConfig& config : kConfigs) {
    CoverageInputs in;
    CoverageAttention layer = make_coverage(config);
    const auto run = [&] {
      const CoverageSource source = in.source(layer);
      CoverageState state = layer.start(source);
      Tensor q = CoverageInputs::query(0);
      std::vector<Tensor> parts;
      for (size_t t = 0; t < 3; ++t) {
        const Tensor before = state.remembered;
        const auto [output, weights] = layer.step(q, source, state);
        q = add(CoverageInputs::query(t + 1), concat({output, output.slice_columns(0, 1)}, 1));
        const Tensor loss = coverage_loss(state.alignment, weights, before);
        parts.push_back(concat({output, reshape(loss, {4, 1})}, 1));
      }
      return concat(parts, 0);
    };
    in.values.require_grad();
    expect_gradients(layer, in.keys, run);
    in.values.clear_grad();
    clear_grads(layer);
    expect_gradients(layer, in.values, run);
    EXPECT_EQ(parameters(layer).size(), config.filters == 0 ? 5u : 6u);
  }
}

TEST(Coverage, PackedEqualsOneAtATime) {
  const CoverageInputs in;
  for (const CoverageConfig& config : kConfigs) {
    const CoverageAttention layer = make_coverage(config);
    const CoverageSource source = in.source(layer);
    CoverageState state = layer.start(source);
    std::vector<Tensor> packed;
    for (size_t t = 0; t < 3; ++t) {
      packed.push_back(layer.step(CoverageInputs::query(t), source, state).output);
    }
    for (size_t s = 0; s < 4; ++s) {
      const size_t begin = in.packing.begin(s), count = in.packing.length(s);
      const CoverageSource own =
          layer.remember(in.keys.slice_rows(begin, count), in.values.slice_rows(begin, count),
                         Packing(std::vector<int32_t>{static_cast<int32_t>(count)}));
      CoverageState alone = layer.start(own);
      for (size_t t = 0; t < 3; ++t) {
        const Tensor y = layer.step(CoverageInputs::query(t).slice_rows(s, 1), own, alone).output;
        expect_values(y, packed[t].slice_rows(s, 1).to_vector(), 1e-6f);
      }
    }
  }
}

// One step is the one op with what is remembered as the features of its keys, and without weights
// for these plain additive attention.
TEST(Coverage, IsAPointOfTheFamily) {
  CoverageInputs in;
  const CoverageAttention layer = make_coverage(kConfigs[0]);
  const CoverageSource source = in.source(layer);
  CoverageState state = layer.start(source);
  AttentionOptions options{.queries = Packing::even(4, 1), .keys = in.packing};
  options.score = Score::kAdditive;
  options.score_weights = {.key = layer.key.weight.value, .vector = layer.vector};
  for (const bool zero : {false, true}) {
    if (zero) {
      for (float& w : layer.location.weight.value.span()) w = 0.0f;
    }
    for (size_t t = 0; t < 3; ++t) {
      if (!zero) {
        options.score_weights.location = layer.location.weight.value;
        options.score_weights.location_inputs = state.remembered.reshape({11, 1});
      }
      const Tensor q = layer.query(CoverageInputs::query(t));
      const Tensor expected = attention(q, in.keys, in.values, options).output;
      expect_values(layer.step(CoverageInputs::query(t), source, state).output,
                    expected.to_vector(), 1e-5f);
    }
    options.score_weights.location = options.score_weights.location_inputs = {};
  }
}

TEST(Coverage, ReorderedSequencesGoOnAsTheirParents) {
  const CoverageInputs in;
  for (const CoverageConfig& config : kConfigs) {
    const CoverageAttention layer = make_coverage(config);
    const CoverageSource source = in.source(layer);
    CoverageState state = layer.start(source);
    layer.step(CoverageInputs::query(0), source, state);
    CoverageState beam = state;
    const std::vector<size_t> parents{2, 0, 2, 1};
    beam.reorder(parents);
    EXPECT_EQ(beam.alignment.pairs, Packing::of({7, 3, 7, 0}));
    const Tensor q = CoverageInputs::query(1);
    const Tensor straight = layer.step(q, source, state).output;
    const Tensor y = layer.step(pick_rows(q, parents), source, beam).output;
    expect_values(y, pick_rows(straight, parents).to_vector(), 1e-6f);
    beam.reorder(std::vector<size_t>{1});  // a child of sequence 0
    state.reorder(std::vector<size_t>{0});
    const Tensor next = q.slice_rows(3, 1);
    expect_values(layer.step(next, source, beam).output,
                  layer.step(next, source, state).output.to_vector(), 1e-6f);
  }
}

// Hypotheses that share a source, and sources that nobody looks at any more.
TEST(Coverage, GradientsFlowThroughAReorder) {
  CoverageInputs in;
  CoverageAttention layer = make_coverage(kConfigs[2]);
  in.values.require_grad();
  expect_gradients(layer, in.keys, [&] {
    const CoverageSource source = in.source(layer);
    CoverageState state = layer.start(source);
    layer.step(CoverageInputs::query(0), source, state);
    state.reorder(std::vector<size_t>{2, 2, 0});
    const Tensor second =
        layer.step(CoverageInputs::query(1).slice_rows(0, 3), source, state).output;
    return concat(
        {second, layer.step(CoverageInputs::query(2).slice_rows(0, 3), source, state).output}, 0);
  });
}

TEST(Coverage, NothingToLookAtGivesZeros) {
  const CoverageAttention layer = make_coverage(kConfigs[2]);
  const CoverageSource source =
      layer.remember(Tensor::zeros({0, 5}), Tensor::zeros({0, 3}), Packing::of({0, 0}));
  CoverageState state = layer.start(source);
  for (size_t t = 0; t < 2; ++t) {
    const auto [output, weights] = layer.step(random_tensor({2, 4}, t), source, state);
    expect_values(output, std::vector<float>(6, 0.0f), 0.0f);
    EXPECT_EQ(weights.size(), 0u);
    expect_values(coverage_loss(state.alignment, weights, state.remembered), {0, 0}, 0.0f);
  }
  const CoverageSource none = layer.remember(Tensor::zeros({0, 5}), Tensor::zeros({0, 3}), {});
  CoverageState nobody = layer.start(none);
  EXPECT_EQ(layer.step(Tensor::zeros({0, 4}), none, nobody).output.shape(), (Shape{0, 3}));
}

TEST(CoverageLoss, IsTheOverlap) {
  const Alignment at(Packing::of({3, 0, 1}));
  Tensor weights = Tensor::of({0.2f, 0.5f, 0.3f, 1.0f}, {4});
  Tensor coverage = Tensor::of({0.1f, 0.9f, 0.0f, 2.0f}, {4});
  weights.require_grad();
  coverage.require_grad();
  const Tensor loss = coverage_loss(at, weights, coverage);
  expect_values(loss, {0.6f, 0.0f, 1.0f}, 1e-6f);
  backward(loss, Tensor::of({2, 5, 3}, {3}));
  expect_values(weights.grad(), {0, 2, 0, 3}, 0.0f);
  expect_values(coverage.grad(), {2, 0, 2, 0}, 0.0f);
  expect_error<ShapeError>([&] { coverage_loss(at, Tensor::zeros({3}), coverage); },
                           "weights [3] and coverage [4] of 4 pairs");
}

TEST(Coverage, IsTheSameOnAnyNumberOfThreads) {
  const auto run = [](int threads) {
    const ThreadCountScope scope(threads);
    CoverageAttention layer =
        make_coverage({.width = 48, .hidden = 96, .filters = 10, .filter_width = 7});
    Tensor keys = random_tensor({24 * 31, 48}, 1);
    keys.require_grad();
    const CoverageSource source = layer.remember(keys, keys, Packing::even(24, 31));
    CoverageState state = layer.start(source);
    layer.step(random_tensor({24, 48}, 2), source, state);
    std::vector<size_t> parents(24);  // six sequences share a source
    for (size_t s = 0; s < 24; ++s) parents[s] = s % 4;
    state.reorder(parents);
    const Tensor y = layer.step(random_tensor({24, 48}, 3), source, state).output;
    backward(y, random_tensor(y.shape(), 4));
    std::vector<float> values = y.to_vector();
    std::vector<NamedTensor> all = parameters(layer);
    all.push_back({"keys", keys});
    for (const NamedTensor& p : all) {
      const std::vector<float> gradient = p.tensor.grad().to_vector();
      values.insert(values.end(), gradient.begin(), gradient.end());
    }
    return values;
  };
  const std::vector<float> one = run(1);
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(4), one);
}

TEST(Coverage, CanBeSeen) {
  const CoverageInputs in;
  CoverageAttention layer = make_coverage(kConfigs[0]);
  layer.name = "coverage";
  const CoverageSource source = in.source(layer);
  CoverageState state = layer.start(source);
  layer.step(CoverageInputs::query(0), source, state);
  CoverageState unseen = state;
  const auto [output, weights] = layer.step(CoverageInputs::query(1), source, unseen);
  Recorder recorder;
  recorder.request = {.sequences = {2, 3}, .lse = true};
  EXPECT_EQ(layer.step(CoverageInputs::query(1), source, state).output.to_vector(),
            output.to_vector());
  ASSERT_EQ(recorder.heads.size(), 2u);
  const RecordedHead& head = recorder.heads[0];
  EXPECT_EQ(head.layer, "coverage");
  EXPECT_EQ(head.first_query, 1u);
  EXPECT_EQ(head.weights.shape(), (Shape{1, 7}));
  EXPECT_EQ(head.weights.to_vector(), weights.slice_rows(3, 7).to_vector());
  EXPECT_EQ(head.lse.size(), 1u);
}

TEST(Coverage, NamesAreParsed) { expect_names<Remembered>({"last", "sum"}); }

TEST(Coverage, ErrorsNameTheValuesAndTheRemedy) {
  expect_error<ConfigError>([] { make_coverage({}); }, "width 0");
  expect_error<ConfigError>([] { make_coverage({.width = 4, .filters = 2, .filter_width = 4}); },
                            "2 filters of width 4; give both, the width odd");
  expect_error<ConfigError>([] { make_coverage({.width = 4, .filter_width = 3}); },
                            "0 filters of width 3");
  const CoverageInputs in;
  const CoverageAttention layer = make_coverage(kConfigs[0]);
  expect_error<ShapeError>([&] { layer.remember(in.keys, in.values, Packing::of({4})); },
                           "keys are [11, 5] and values [11, 3], not [4, 5] and [4, any]");
  const CoverageSource source = in.source(layer);
  CoverageState state = layer.start(source);
  expect_error<ShapeError>(
      [&] {
        layer.step(Tensor::zeros({3, 4}), source, state);
      },
      "queries are [3, 4], not [4, 4]: one for each sequence");
  const CoverageSource other =
      layer.remember(Tensor::zeros({2, 5}), Tensor::zeros({2, 3}), Packing::of({2}));
  expect_error<ShapeError>(
      [&] {
        layer.step(Tensor::zeros({1, 4}), other, state);
      },
      "a state of 4 sources with 11 rows, but these are 1 with 2");
  expect_error<ShapeError>(
      [&] {
        state.reorder(std::vector<size_t>{0, 4});
      },
      "there is no sequence 4 among 4");
  EXPECT_EQ(state.alignment.queries(), 4u);  // as it was
}

}  // namespace
}  // namespace attend
