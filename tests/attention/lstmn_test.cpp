// The LSTM whose memory is attended, against the equations of the paper one step at a time.
#include "attend/attention/lstmn.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/attention/intervention.h"
#include "attend/attention/recorder.h"
#include "attend/base/parallel.h"
#include "attend/ops/shape.h"
#include "tests/attention/modules.h"

namespace attend {
namespace {

using Row = std::vector<double>;

Lstmn make_lstmn(const LstmnConfig& config) {
  Rng rng(1);
  Lstmn layer(config, rng);
  randomize(layer, 0.8f);
  return layer;
}

Row product(const Tensor& weight, const Row& x) {
  Row y(weight.rows(), 0.0);
  for (size_t o = 0; o < y.size(); ++o) {
    for (size_t i = 0; i < x.size(); ++i) y[o] += double{weight.data()[o * x.size() + i]} * x[i];
  }
  return y;
}

double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// One sequence; `weights`, if wanted, gets those of all steps.
std::vector<Row> by_definition(const Lstmn& layer, const Tensor& x, std::vector<Row>* weights) {
  const size_t hidden = layer.config.hidden;
  std::vector<Row> h, c;
  Row mixed_h(hidden, 0.0), mixed_c(hidden, 0.0);
  for (size_t t = 0; t < x.rows(); ++t) {
    const Row xt(x.data() + t * x.width(), x.data() + (t + 1) * x.width());
    Row w(t);
    const Row from_x = product(layer.from_input.weight.value, xt),
              from_m = product(layer.from_mixture.weight.value, mixed_h);
    double total = 0.0;
    for (size_t i = 0; i < t; ++i) {
      const Row from_h = product(layer.from_hidden.weight.value, h[i]);
      double score = 0.0;
      for (size_t a = 0; a < from_h.size(); ++a) {
        score += layer.vector.data()[a] *
                 std::tanh(from_h[a] + layer.from_hidden.bias.data()[a] + from_x[a] + from_m[a]);
      }
      total += w[i] = std::exp(score);
    }
    for (double& weight : w) weight /= total;
    mixed_h.assign(hidden, 0.0);
    mixed_c.assign(hidden, 0.0);
    for (size_t i = 0; i < t; ++i) {
      for (size_t d = 0; d < hidden; ++d) {
        mixed_h[d] += w[i] * h[i][d];
        mixed_c[d] += w[i] * c[i][d];
      }
    }
    const Row gx = product(layer.lstm.input, xt), gh = product(layer.lstm.hidden, mixed_h);
    const auto gate = [&](size_t k, size_t d) {
      const size_t at = k * hidden + d;
      return gx[at] + gh[at] + layer.lstm.input_bias.data()[at];
    };
    Row ht(hidden), ct(hidden);
    for (size_t d = 0; d < hidden; ++d) {
      ct[d] = sigmoid_of(gate(1, d)) * mixed_c[d] + sigmoid_of(gate(0, d)) * std::tanh(gate(2, d));
      ht[d] = sigmoid_of(gate(3, d)) * std::tanh(ct[d]);
    }
    h.push_back(ht);
    c.push_back(ct);
    if (weights != nullptr) weights->push_back(w);
  }
  return h;
}

TEST(Lstmn, IsThatOfThePaperForEachSequence) {
  const Lstmn layer = make_lstmn({.input = 3, .hidden = 4, .attention = 5});
  const Packing packing = Packing::of({2, 7, 0, 4, 1});
  const Tensor x = random_tensor({packing.rows(), 3}, 1), y = layer(x, packing);
  ASSERT_EQ(y.shape(), (Shape{14, 4}));
  for (size_t s = 0; s < packing.count(); ++s) {
    const Tensor rows = x.slice_rows(packing.begin(s), packing.length(s));
    const std::vector<Row> h = by_definition(layer, rows, nullptr);
    for (size_t t = 0; t < h.size(); ++t) {
      for (size_t d = 0; d < 4; ++d) {
        EXPECT_NEAR(y.data()[(packing.begin(s) + t) * 4 + d], h[t][d], 1e-5) << s << " " << t;
      }
    }
  }
  EXPECT_EQ(layer(Tensor::zeros({0, 3}), Packing::of({0})).shape(), (Shape{0, 4}));
}

// Rows that are replaced by themselves change nothing; others do, in steps as in the whole.
TEST(Lstmn, HeedsInterventions) {
  Lstmn layer = make_lstmn({.input = 3, .hidden = 4, .attention = 5});
  layer.name = "memory";
  const Packing packing = Packing::of({4, 6});
  const Tensor x = random_tensor({10, 3}, 1), before = layer(x, packing);
  {
    Recorder recorder;
    layer(x, packing);
    Intervention intervention;
    const bool second = recorder.heads[1].sequence == 1;
    const Tensor own = recorder.heads[second ? 1 : 0].weights;
    intervention.replace_row({"memory"}, 5, own.slice_rows(5, 1).to_vector());
    const Tensor after = layer(x, packing);
    for (size_t i = 0; i < after.size(); ++i) {
      EXPECT_NEAR(after.data()[i], before.data()[i], 1e-5f);
    }
  }
  Intervention intervention;
  intervention.mask({"memory", 0}, 3, 1).replace_row({"memory"}, 2, {1});
  Recorder recorder;
  const Tensor after = layer(x, packing);
  EXPECT_NE(after.to_vector(), before.to_vector());
  for (const RecordedHead& head : recorder.heads) {
    EXPECT_EQ(head.weights.slice_rows(3, 1).span()[1], 0.0f);
    EXPECT_EQ(head.weights.slice_rows(2, 1).span()[0], 1.0f);
  }
  LstmnState state = layer.start(1);
  for (size_t t = 0; t < 4; ++t) {
    const Tensor h = layer.step(x.slice_rows(t, 1), state);
    for (size_t d = 0; d < 4; ++d) EXPECT_NEAR(h.data()[d], after.data()[t * 4 + d], 1e-5f) << t;
  }
}

TEST(Lstmn, GradientsFlowThroughAnIntervention) {
  Lstmn layer = make_lstmn({.input = 3, .hidden = 3, .attention = 2});
  layer.name = "memory";
  for (float& v : layer.vector.span()) v *= 4.0f;  // for weights that are far from equal
  Tensor x = random_tensor({9, 3}, 1, 1.5f);
  Intervention intervention;
  intervention.mask({"memory"}, 3, 1);
  expect_gradients(layer, x, [&] { return layer(x, Packing::of({3, 5, 1})); });
}

TEST(Lstmn, GradientsReachAllParameters) {
  Lstmn layer = make_lstmn({.input = 3, .hidden = 3, .attention = 2});
  for (float& v : layer.vector.span()) v *= 4.0f;  // for weights that are far from equal
  Tensor x = random_tensor({9, 3}, 1, 1.5f);
  expect_gradients(layer, x, [&] { return layer(x, Packing::of({3, 5, 1})); });
  EXPECT_EQ(parameters(layer).size(), 8u);
}

TEST(Lstmn, NoSequencesHaveGradients) {
  Rng rng(1);
  const Lstmn layer({.input = 3, .hidden = 2}, rng);
  const Tensor y = layer(Tensor::empty({0, 3}), Packing());
  EXPECT_EQ(y.shape(), (Shape{0, 2}));
  backward(y, Tensor::empty({0, 2}));
}

TEST(Lstmn, StepByStepEqualsAllAtOnce) {
  const Lstmn layer = make_lstmn({.input = 3, .hidden = 4, .attention = 5});
  const Packing packing = Packing::even(3, 6);
  const Tensor x = random_tensor({18, 3}, 1), whole = layer(x, packing);
  LstmnState state = layer.start(3);
  for (size_t t = 0; t < 6; ++t) {
    const std::vector<size_t> rows{t, 6 + t, 12 + t};
    expect_values(layer.step(pick_rows(x, rows), state), pick_rows(whole, rows).to_vector(), 1e-6f);
  }
  LstmnState nobody = layer.start(0);
  for (size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(layer.step(Tensor::zeros({0, 3}), nobody).shape(), (Shape{0, 4}));
  }
}

// Sequences of any lengths, some rows of each at a time, that join later, are rewound and branch.
TEST(Lstmn, CachedStepsEqualAllAtOnce) {
  const NoGrad no_grad;
  const Lstmn layer = make_lstmn({.input = 3, .hidden = 4, .attention = 5});
  const Packing packing = Packing::of({9, 20, 4});
  const Tensor x = random_tensor({33, 3}, 1), whole = layer(x, packing);
  KeyValueCache cache(2);
  std::vector<size_t> at(2, 0);
  const auto step = [&](const std::vector<int32_t>& counts, const std::vector<size_t>& sequences) {
    std::vector<Tensor> inputs, expected;
    for (size_t i = 0; i < counts.size(); ++i) {
      const size_t row = packing.begin(sequences[i]) + at[i];
      inputs.push_back(x.slice_rows(row, static_cast<size_t>(counts[i])));
      expected.push_back(whole.slice_rows(row, static_cast<size_t>(counts[i])));
      at[i] += static_cast<size_t>(counts[i]);
    }
    expect_values(layer.step(concat(inputs, 0), Packing(counts), cache),
                  concat(expected, 0).to_vector(), 1e-6f);
  };
  step({3, 1}, {0, 1});
  step({0, 2}, {0, 1});
  cache.admit(1), at.push_back(0);
  step({2, 6, 3}, {0, 1, 2});
  cache.rewind(std::vector<int32_t>{4, 1, 0}), at = {4, 1, 0};
  step({1, 1, 1}, {0, 1, 2});
  cache.reorder(std::vector<size_t>{2, 1, 1}), at = {1, 2, 2};
  step({3, 18, 4}, {2, 1, 1});
  const std::vector<int32_t> seen(cache.seen().begin(), cache.seen().end());
  EXPECT_EQ(seen, (std::vector<int32_t>{4, 20, 6}));
  KeyValueCache nobody;
  EXPECT_EQ(layer.step(Tensor::zeros({0, 3}), Packing(), nobody).shape(), (Shape{0, 4}));
}

// Sequences that were crossed after `at` steps go on as those they came from.
TEST(Lstmn, ReorderedSequencesGoOnAsTheirParents) {
  const Lstmn layer = make_lstmn({.input = 3, .hidden = 4});
  const Tensor x = random_tensor({3 * 5, 3}, 1), next = random_tensor({4 * 5, 3}, 2);
  const std::vector<size_t> parents{2, 0, 2, 1};
  for (const size_t at : {0, 1, 2, 5}) {
    LstmnState state = layer.start(3);
    for (size_t t = 0; t < at; ++t) layer.step(pick_rows(x, {t, 5 + t, 10 + t}), state);
    state.reorder(parents);
    std::vector<Tensor> outputs;
    for (size_t t = at; t < 5; ++t) {
      outputs.push_back(layer.step(pick_rows(next, {t, 5 + t, 10 + t, 15 + t}), state));
    }
    for (size_t s = 0; s < 4; ++s) {
      const Tensor own =
          concat({x.slice_rows(parents[s] * 5, at), next.slice_rows(s * 5 + at, 5 - at)}, 0);
      const Tensor y = layer(own, Packing::of({5}));
      for (size_t t = at; t < 5; ++t) {
        expect_values(outputs[t - at].slice_rows(s, 1), y.slice_rows(t, 1).to_vector(), 1e-6f);
      }
    }
  }
}

TEST(Lstmn, GradientsFlowThroughStepsAndReorders) {
  Lstmn layer = make_lstmn({.input = 3, .hidden = 3, .attention = 2});
  for (float& v : layer.vector.span()) v *= 4.0f;  // for weights that are far from equal
  Tensor x = random_tensor({22, 3}, 1, 1.5f);
  expect_gradients(layer, x, [&] {
    LstmnState state = layer.start(2);
    layer.step(x.slice_rows(0, 2), state);
    layer.step(x.slice_rows(2, 2), state);
    state.reorder(std::vector<size_t>{1, 1, 0});
    std::vector<Tensor> outputs;
    for (size_t row = 4; row < 22; row += 3) {
      outputs.push_back(layer.step(x.slice_rows(row, 3), state));
    }
    return concat(outputs, 0);
  });
}

TEST(Lstmn, IsTheSameOnAnyNumberOfThreads) {
  const auto run = [](int threads) {
    const ThreadCountScope scope(threads);
    Lstmn layer = make_lstmn({.input = 8, .hidden = 40, .attention = 40});
    std::vector<int32_t> lengths(24, 9);
    lengths[3] = 14;
    const Packing packing(lengths);
    const Tensor y = layer(random_tensor({packing.rows(), 8}, 1), packing);
    backward(y, random_tensor(y.shape(), 2));
    std::vector<float> values = y.to_vector();
    for (const NamedTensor& p : parameters(layer)) {
      const std::vector<float> gradient = p.tensor.grad().to_vector();
      values.insert(values.end(), gradient.begin(), gradient.end());
    }
    return values;
  };
  const std::vector<float> one = run(1);
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(4), one);
}

TEST(Lstmn, CanBeSeen) {
  Lstmn layer = make_lstmn({.input = 3, .hidden = 4});
  layer.name = "memory";
  const Packing packing = Packing::of({2, 5});
  const Tensor x = random_tensor({7, 3}, 1);
  const std::vector<float> unseen = layer(x, packing).to_vector();
  Recorder recorder;
  recorder.request = {.sequences = {1}, .first_query = 1, .lse = true};
  EXPECT_EQ(layer(x, packing).to_vector(), unseen);
  ASSERT_EQ(recorder.heads.size(), 1u);
  const Tensor& weights = recorder.heads[0].weights;
  ASSERT_EQ(weights.shape(), (Shape{4, 5}));
  std::vector<Row> expected;
  by_definition(layer, x.slice_rows(2, 5), &expected);
  for (size_t t = 1; t < 5; ++t) {
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(weights.data()[(t - 1) * 5 + i], i < t ? expected[t][i] : 0.0, 1e-5);
    }
  }
}

TEST(Lstmn, StepsCanBeSeen) {
  Lstmn layer = make_lstmn({.input = 3, .hidden = 4});
  layer.name = "memory";
  const Tensor x = random_tensor({8, 3}, 1);
  Recorder whole;
  layer(x, Packing::even(2, 4));
  Recorder recorder;
  recorder.request = {.sequences = {1}, .lse = true};
  LstmnState state = layer.start(2);
  for (size_t t = 0; t < 4; ++t) layer.step(pick_rows(x, {t, 4 + t}), state);
  ASSERT_EQ(recorder.heads.size(), 4u);
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(recorder.heads[t].first_query, t);
    ASSERT_EQ(recorder.heads[t].weights.shape(), (Shape{1, t}));
    const Tensor row = whole.heads[1].weights.slice_rows(t, 1).slice_columns(0, t);
    expect_values(recorder.heads[t].weights, row.to_vector(), 1e-6f);
  }
}

TEST(Lstmn, ErrorsNameTheValues) {
  expect_error<ConfigError>([] { make_lstmn({.input = 3}); }, "input 3 and hidden 0");
  expect_error<ShapeError>(
      [] {
        make_lstmn({.input = 3, .hidden = 2})(Tensor::zeros({4, 3}), Packing::of({5}));
      },
      "lstmn: [4, 3] is not [5, 3]");
  const Lstmn layer = make_lstmn({.input = 3, .hidden = 2});
  LstmnState state = layer.start(2);
  expect_error<ShapeError>(
      [&] {
        layer.step(Tensor::zeros({3, 3}), state);
      },
      "a step of [3, 3], not [2, 3]: one row for each sequence");
  KeyValueCache cache(2);
  expect_error<ShapeError>(
      [&] {
        layer.step(Tensor::zeros({3, 3}), Packing::of({3}), cache);
      },
      "a step of [3, 3], 3 rows of 1 sequences, does not fit an input 3 wide and a cache of 2");
  expect_error<ShapeError>([&] { state.reorder(std::vector<size_t>{2}); },
                           "there is no sequence 2 among 2");
}

}  // namespace
}  // namespace attend
