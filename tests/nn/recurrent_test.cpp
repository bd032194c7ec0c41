#include "attend/nn/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/ops/dropout.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/names.h"

namespace attend {
namespace {

Tensor random_tensor(const Shape& shape, uint64_t stream) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(23, stream), -1.0f, 1.0f);
  return x;
}

void expect_near(const Tensor& actual, const Tensor& expected, const std::string& what) {
  ASSERT_TRUE(actual.defined()) << what;
  const std::vector<float> a = actual.to_vector(), e = expected.to_vector();
  ASSERT_EQ(a.size(), e.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], e[i], 2e-6f * (1 + std::abs(e[i]))) << what << " at " << i;
  }
}

// What PyTorch computed (tests/fixtures/make_recurrent.py), by name.
using Fixture = std::map<std::string, Tensor>;

std::map<std::string, Fixture> read_fixtures() {
  std::istringstream text(
#include "tests/fixtures/recurrent.inc"
  );
  std::map<std::string, Fixture> cases;
  std::string name, cell;
  while (text >> name) {
    if (name == "case") {
      text >> cell;
      continue;
    }
    size_t rank = 0;
    text >> rank;
    std::vector<size_t> extents(rank);
    for (size_t& extent : extents) text >> extent;
    std::vector<float> values(Shape(extents).size());
    for (float& value : values) text >> value;
    cases[cell][name] = Tensor::of(values, Shape(extents));
  }
  return cases;
}

// The part of a PyTorch state [layers x directions, sequences, hidden] that is one layer's.
Tensor state_of(const Tensor& all, size_t i) {
  return all.slice_rows(i, 1).reshape({all.extent(1), all.extent(2)});
}

TEST(RecurrentModule, AgreesWithPyTorch) {
  const auto fixtures = read_fixtures();
  ASSERT_EQ(fixtures.size(), 4u);
  for (const auto& [name, fixture] : fixtures) {
    SCOPED_TRACE(name);
    const auto at = [&, &values = fixture](const std::string& key) { return values.at(key); };
    const bool lstm = name == "lstm";
    Rng rng(1);
    Recurrent module({.cell = named<Cell>(name),
                      .input = at("x").width(),
                      .hidden = at("h_0").width(),
                      .layers = 2,
                      .bidirectional = true},
                     rng);
    for (const NamedTensor& p : parameters(module)) {
      ASSERT_EQ(p.tensor.shape(), at(p.name).shape()) << p.name;
      std::ranges::copy(at(p.name).span(), p.tensor.span().begin());
    }
    const Tensor x = at("x").require_grad(), h_0 = at("h_0").require_grad();
    const Tensor c_0 = lstm ? at("c_0").require_grad() : Tensor();
    Recurrent::States initial;
    for (size_t i = 0; i < 4; ++i) {
      initial.push_back({state_of(h_0, i), lstm ? state_of(c_0, i) : Tensor()});
    }
    const Recurrent::Output y = module(x, Packing::of({2, 3, 1}), initial);
    expect_near(y.output, at("output"), "output");
    std::vector<Tensor> all{y.output.reshape({1, y.output.size()})};
    std::vector<Tensor> seeds{at("seed_output").reshape({1, y.output.size()})};
    for (size_t i = 0; i < 4; ++i) {
      const Tensor& h = y.states[i].h;
      expect_near(h, state_of(at("h_n"), i), "h_n");
      if (lstm) expect_near(y.states[i].c, state_of(at("c_n"), i), "c_n");
      all.push_back(h.reshape({1, h.size()}));
      seeds.push_back(state_of(at("seed_h_n"), i).reshape({1, h.size()}));
    }
    backward(concat(all, -1), concat(seeds, -1));
    for (const NamedTensor& p : parameters(module)) {
      expect_near(p.tensor.grad(), at("d_" + p.name), p.name);
    }
    expect_near(x.grad(), at("d_x"), "x");
    expect_near(h_0.grad(), at("d_h_0"), "h_0");
    if (lstm) expect_near(c_0.grad(), at("d_c_0"), "c_0");
  }
}

TEST(RecurrentModule, LayersAndDirectionsAreComposed) {
  const Packing packing = Packing::of({4, 0, 2, 5});
  const Tensor x = random_tensor({packing.rows(), 3}, 1);
  Rng rng(2);
  const Recurrent module(
      {.cell = Cell::kGru, .input = 3, .hidden = 4, .layers = 2, .bidirectional = true}, rng);
  const Recurrent::Output y = module(x, packing);
  Tensor layer = x;
  for (size_t i = 0; i < 2; ++i) {
    const auto forward = recurrent(layer, packing, module.weights[2 * i], {}, {Cell::kGru});
    const auto reverse =
        recurrent(layer, packing, module.weights[2 * i + 1], {}, {Cell::kGru, true});
    EXPECT_EQ(y.states[2 * i].h.to_vector(), forward.state.h.to_vector());
    EXPECT_EQ(y.states[2 * i + 1].h.to_vector(), reverse.state.h.to_vector());
    layer = concat({forward.output, reverse.output}, -1);
  }
  EXPECT_EQ(y.output.shape(), (Shape{packing.rows(), 8}));
  EXPECT_EQ(y.output.to_vector(), layer.to_vector());
}

TEST(RecurrentModule, StepByStepEqualsAllAtOnce) {
  constexpr size_t kLength = 5, kCount = 3;
  const Tensor x = random_tensor({kCount * kLength, 4}, 1);
  for (const char* name : {"rnn_tanh", "rnn_relu", "lstm", "gru"}) {
    SCOPED_TRACE(name);
    Rng rng(2);
    const Recurrent module({.cell = named<Cell>(name), .input = 4, .hidden = 20, .layers = 2}, rng);
    const Recurrent::Output all = module(x, Packing::even(kCount, kLength));
    Recurrent::States states;
    for (size_t t = 0; t < kLength; ++t) {
      Tensor row = Tensor::empty({kCount, 4});
      for (size_t s = 0; s < kCount; ++s) {
        std::copy_n(x.data() + (s * kLength + t) * 4, 4, row.data() + s * 4);
      }
      states = module.step(row, states);
      for (size_t s = 0; s < kCount; ++s) {
        EXPECT_EQ(states.back().h.slice_rows(s, 1).to_vector(),
                  all.output.slice_rows(s * kLength + t, 1).to_vector());
      }
    }
    for (size_t layer = 0; layer < 2; ++layer) {
      EXPECT_EQ(states[layer].h.to_vector(), all.states[layer].h.to_vector());
      if (states[layer].c.defined()) {
        EXPECT_EQ(states[layer].c.to_vector(), all.states[layer].c.to_vector());
      }
    }
  }
}

TEST(RecurrentModule, ParametersAreNamedAsInPyTorch) {
  Rng rng(1);
  Recurrent module({.input = 3, .hidden = 2, .layers = 2, .bidirectional = true}, rng);
  std::vector<std::string> names;
  for (const NamedTensor& p : parameters(module)) names.push_back(p.name);
  ASSERT_EQ(names.size(), 16u);
  EXPECT_EQ(names[0], "weight_ih_l0");
  EXPECT_EQ(names[5], "weight_hh_l0_reverse");
  EXPECT_EQ(names[10], "bias_ih_l1");
  EXPECT_EQ(names[15], "bias_hh_l1_reverse");
  Recurrent bare({.input = 3, .hidden = 2, .bias = false}, rng);
  EXPECT_EQ(parameter_count(bare), 4u * 2 * 3 + 4u * 2 * 2);
}

// Between layers, in training only, and not on what the last layer gives.
TEST(RecurrentModule, DropsOutBetweenLayers) {
  const Packing packing = Packing::of({3, 2});
  const Tensor x = random_tensor({5, 3}, 1);
  Rng rng(2);
  Recurrent module({.input = 3, .hidden = 8, .layers = 2, .dropout = 0.5f}, rng);
  const auto output = [&] { return module(x, packing).output.to_vector(); };
  const std::vector<float> plain = output();
  {
    const TrainingScope training(Rng(5));
    const Recurrent::Output y = module(x, packing);
    EXPECT_NE(y.output.to_vector(), plain);
    EXPECT_EQ(y.states[0].h.to_vector(), module(x, packing).states[0].h.to_vector());
  }
  module.config.dropout = 0.0f;
  const TrainingScope training(Rng(5));
  EXPECT_EQ(output(), plain);
}

// One mask a sequence for the states inside each layer and, where it is variational, for the rows
// between layers.
TEST(RecurrentModule, DropsOutInsideTheRecurrence) {
  const Packing packing = Packing::of({3, 2});
  const Tensor x = random_tensor({5, 3}, 1);
  Rng rng(2);
  const Recurrent module({.cell = Cell::kGru,
                          .input = 3,
                          .hidden = 8,
                          .layers = 2,
                          .dropout = 0.5f,
                          .variational = true,
                          .recurrent_dropout = 0.4f},
                         rng);
  const auto inside_training = [](const auto& f) {
    const TrainingScope training(Rng(5));
    return f();
  };
  const Tensor y = inside_training([&] { return module(x, packing).output; });
  const Tensor by_hand = inside_training([&] {
    const auto layer = [&](const Tensor& rows, size_t i) {
      const RecurrentOptions options{.cell = Cell::kGru, .mask = dropout_mask(2, 8, 0.4f)};
      return recurrent(rows, packing, module.weights[i], {}, options).output;
    };
    const Tensor first = layer(x, 0);
    return layer(sequence_dropout(first, packing, 0.5f), 1);
  });
  EXPECT_EQ(y.to_vector(), by_hand.to_vector());
  EXPECT_NE(y.to_vector(), module(x, packing).output.to_vector());
}

TEST(RecurrentModule, WrongUseIsNamed) {
  Rng rng(1);
  EXPECT_THROW(Recurrent({.input = 3}, rng), ConfigError);
  const Recurrent both({.input = 3, .hidden = 2, .bidirectional = true}, rng);
  EXPECT_THROW(both.step(random_tensor({2, 3}, 1)), ConfigError);
  const Recurrent::States three(3);
  EXPECT_THROW(both(random_tensor({2, 3}, 1), Packing::of({2}), three), ShapeError);
}

}  // namespace
}  // namespace attend
