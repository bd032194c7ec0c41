#include "attend/ops/recurrent.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/ops/recurrent_schedule.h"
#include "attend/tensor/tape.h"
#include "tests/names.h"
#include "tests/ops/op_case.h"
#include "tests/plain/recurrent.h"

namespace attend {
namespace {

using plain::Plain;

// `count` sequences of uneven lengths, an empty one and one of a single row among them where there
// are several.
Packing uneven(size_t rows, size_t count) {
  std::vector<int32_t> lengths(count, 0);
  const size_t first = count > 2 ? 2 : 0, shares = (count - first) * (count - first + 1) / 2;
  size_t left = rows;
  if (count > 2 && rows > 0) --left, lengths[1] = 1;
  const size_t spread = left;
  for (size_t i = first; i < count; ++i) {
    const size_t share = i + 1 == count ? left : spread * (i - first + 1) / shares;
    lengths[i] = static_cast<int32_t>(share);
    left -= share;
  }
  return Packing(lengths);
}

struct Sizes {
  size_t rows, in, hidden, count;
};

// x, the weights, the biases, h, and c of an LSTM.
std::vector<Shape> shapes(Cell cell, const Sizes& n) {
  const size_t k = gate_count(cell) * n.hidden;
  std::vector<Shape> all{{n.rows, n.in}, {k, n.in}, {k, n.hidden}, {k}, {k}, {n.count, n.hidden}};
  if (cell == Cell::kLstm) all.push_back({n.count, n.hidden});
  return all;
}

struct Walked {
  Cell cell;
  bool reverse = false, masked = false;

  // With a mask, some of which is 0.
  RecurrentOptions options(size_t count, size_t hidden) const {
    RecurrentOptions options{cell, reverse};
    if (!masked) return options;
    options.mask = Tensor::empty({count, hidden});
    for (size_t i = 0; i < options.mask.size(); ++i) {
      options.mask.data()[i] = static_cast<float>(i * i % 5) / 2.0f;
    }
    return options;
  }
};

OpCase recurrent_case(const std::string& name, Walked walked, const Sizes& large) {
  const Cell cell = walked.cell;
  OpCase c;
  c.name = name;
  c.shapes = {shapes(cell, {14, 3, 5, 5}), shapes(cell, {7, 2, 9, 1}),
              shapes(cell, {1, 4, 3, 1}),  shapes(cell, {0, 2, 3, 2}),
              shapes(cell, {0, 2, 3, 0}),  shapes(cell, {50, 4, 3, 40})};
  c.large = shapes(cell, large);
  c.op = [=](const std::vector<Tensor>& in) {
    return recurrent_rows(in[0], uneven(in[0].rows(), in[5].rows()), {in[1], in[2], in[3], in[4]},
                          {in[5], in.size() > 6 ? in[6] : Tensor()},
                          walked.options(in[5].rows(), in[5].width()));
  };
  c.plain = [=](const std::vector<Plain>& in) {
    return plain::recurrent({in[0], in[1], in[2], in[3], in[4], in[5], in.back()},
                            uneven(in[0].rows(), in[5].rows()),
                            walked.options(in[5].rows(), in[5].width()));
  };
  c.low = -1.0;
  c.high = 1.0;
  return c;
}

constexpr Sizes kManyParts{500, 20, 24, 70}, kSharedSteps{300, 40, 280, 48};

const RegisterOps kRecurrentCases({
    recurrent_case("RnnTanh", {Cell::kRnnTanh}, kManyParts),
    recurrent_case("RnnTanhReverse", {Cell::kRnnTanh, true}, kSharedSteps),
    recurrent_case("RnnRelu", {Cell::kRnnRelu}, kSharedSteps),
    recurrent_case("RnnReluReverse", {Cell::kRnnRelu, true}, kManyParts),
    recurrent_case("Lstm", {Cell::kLstm}, kManyParts),
    recurrent_case("LstmReverse", {Cell::kLstm, true}, kSharedSteps),
    recurrent_case("Gru", {Cell::kGru}, kSharedSteps),
    recurrent_case("GruReverse", {Cell::kGru, true}, kManyParts),
    recurrent_case("RnnTanhMasked", {Cell::kRnnTanh, false, true}, kManyParts),
    recurrent_case("LstmMasked", {Cell::kLstm, false, true}, kManyParts),
    recurrent_case("LstmReverseMasked", {Cell::kLstm, true, true}, kSharedSteps),
    recurrent_case("GruMasked", {Cell::kGru, false, true}, kSharedSteps),
    recurrent_case("GruReverseMasked", {Cell::kGru, true, true}, kManyParts),
});

Tensor random_tensor(const Shape& shape, uint64_t stream) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(17, stream), -1.0f, 1.0f);
  return x;
}

RecurrentWeights random_weights(Cell cell, size_t in, size_t hidden) {
  const size_t k = gate_count(cell) * hidden;
  return {random_tensor({k, in}, 1), random_tensor({k, hidden}, 2), random_tensor({k}, 3),
          random_tensor({k}, 4)};
}

constexpr Cell kAllCells[] = {Cell::kRnnTanh, Cell::kRnnRelu, Cell::kLstm, Cell::kGru};

TEST(Recurrent, PackedEqualsOneSequenceAtATime) {
  const Packing packing = Packing::of({3, 0, 7, 1, 4, 7});
  for (const Cell cell : kAllCells) {
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(name_of(cell));
      const RecurrentWeights weights = random_weights(cell, 5, 12);
      const Tensor x = random_tensor({packing.rows(), 5}, 5);
      const Tensor h = random_tensor({packing.count(), 12}, 6);
      const Tensor c = cell == Cell::kLstm ? random_tensor({packing.count(), 12}, 7) : Tensor();
      const RecurrentResult all = recurrent(x, packing, weights, {h, c}, {cell, reverse});
      for (size_t s = 0; s < packing.count(); ++s) {
        const size_t length = packing.length(s);
        const RecurrentResult one =
            recurrent(x.slice_rows(packing.begin(s), length), Packing::even(1, length), weights,
                      {h.slice_rows(s, 1), c.defined() ? c.slice_rows(s, 1) : c}, {cell, reverse});
        EXPECT_EQ(all.output.slice_rows(packing.begin(s), length).to_vector(),
                  one.output.to_vector());
        EXPECT_EQ(all.state.h.slice_rows(s, 1).to_vector(), one.state.h.to_vector());
        if (c.defined()) {
          EXPECT_EQ(all.state.c.slice_rows(s, 1).to_vector(), one.state.c.to_vector());
        }
      }
    }
  }
}

TEST(Recurrent, UndefinedStatesAndBiasesAreZeros) {
  const Packing packing = Packing::of({2, 0, 4});
  for (const Cell cell : kAllCells) {
    SCOPED_TRACE(name_of(cell));
    RecurrentWeights bare = random_weights(cell, 3, 6), zero = bare;
    bare.input_bias = bare.hidden_bias = Tensor();
    zero.input_bias = zero.hidden_bias = Tensor::zeros({gate_count(cell) * 6});
    const Tensor x = random_tensor({packing.rows(), 3}, 5).require_grad(),
                 zeros = Tensor::zeros({3, 6});
    const Tensor y = recurrent_rows(x, packing, bare, {}, {cell});
    const Tensor expected =
        recurrent_rows(x, packing, zero, {zeros, cell == Cell::kLstm ? zeros : Tensor()}, {cell});
    const Tensor dy = random_tensor(y.shape(), 8);
    EXPECT_EQ(y.to_vector(), expected.to_vector());
    backward(y, dy);
    const std::vector<float> dx = x.grad().to_vector();
    x.clear_grad();
    backward(expected, dy);
    EXPECT_EQ(dx, x.grad().to_vector());
  }
}

// Only what is asked for: gradients of some inputs are those there are with all.
TEST(Recurrent, GradientsOfSomeInputsAreThoseOfAll) {
  const Packing packing = Packing::of({3, 5, 1});
  for (const Cell cell : kAllCells) {
    const auto inputs = [&] {
      const RecurrentWeights w = random_weights(cell, 4, 7);
      std::vector<Tensor> all{
          random_tensor({9, 4}, 5), w.input, w.hidden, w.input_bias, w.hidden_bias,
          random_tensor({3, 7}, 6)};
      if (cell == Cell::kLstm) all.push_back(random_tensor({3, 7}, 7));
      return all;
    };
    const auto run = [&](std::vector<Tensor>& in) {
      const Tensor y = recurrent_rows(in[0], packing, {in[1], in[2], in[3], in[4]},
                                      {in[5], in.size() > 6 ? in[6] : Tensor()}, {cell});
      backward(y, random_tensor(y.shape(), 8));
    };
    std::vector<Tensor> all = inputs();
    for (Tensor& x : all) x.require_grad();
    run(all);
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<Tensor> some = inputs();
      some[i].require_grad();
      run(some);
      EXPECT_EQ(some[i].grad().to_vector(), all[i].grad().to_vector())
          << name_of(cell) << " input " << i;
    }
  }
}

// Output, final h and final c are views of one tensor: whichever of them is used carries its part
// of the gradient.
TEST(Recurrent, StatesCarryGradients) {
  const Packing packing = Packing::of({2, 3, 0});
  const RecurrentWeights weights = random_weights(Cell::kLstm, 4, 6);
  const Tensor dy = random_tensor({5 + 3 + 3, 6}, 8);
  // The gradient of h and x together, from the tensor that `use` picks, seeded with these rows of
  // dy.
  const auto gradient = [&](size_t row, size_t rows, auto use) {
    const Tensor x = random_tensor({5, 4}, 5).require_grad();
    const Tensor h = random_tensor({3, 6}, 6).require_grad();
    backward(use(x, RecurrentState{h, {}}), dy.slice_rows(row, rows));
    std::vector<float> all = h.grad().to_vector();
    const std::vector<float> dx = x.grad().to_vector();
    all.insert(all.end(), dx.begin(), dx.end());
    return all;
  };
  const auto run = [&](const Tensor& x, const RecurrentState& initial) {
    return recurrent(x, packing, weights, initial);
  };
  const auto all = gradient(0, 11, [&](const Tensor& x, const RecurrentState& initial) {
    return recurrent_rows(x, packing, weights, initial, {});
  });
  const auto output = gradient(0, 5, [&](const auto&... in) { return run(in...).output; });
  const auto h = gradient(5, 3, [&](const auto&... in) { return run(in...).state.h; });
  const auto c = gradient(8, 3, [&](const auto&... in) { return run(in...).state.c; });
  for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], output[i] + h[i] + c[i], 1e-5);
}

template <typename F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Recurrent, WrongShapesAreNamed) {
  const Packing packing = Packing::of({2, 3});
  const RecurrentWeights good = random_weights(Cell::kLstm, 4, 6);
  const Tensor x = random_tensor({5, 4}, 5);
  const auto call = [&](const Tensor& input, const RecurrentWeights& weights,
                        RecurrentState initial, Cell cell) {
    return error_of([&] { recurrent(input, packing, weights, initial, {cell}); });
  };
  const auto with = [&](auto change) {
    RecurrentWeights weights = good;
    change(weights);
    return weights;
  };
  EXPECT_EQ(call(x, good, {}, Cell::kLstm), "no error");
  EXPECT_EQ(call(random_tensor({6, 4}, 5), good, {}, Cell::kLstm),
            "recurrent: input [6, 4] does not fit sequences of 5 rows in all");
  EXPECT_EQ(call(random_tensor({5, 3}, 5), good, {}, Cell::kLstm),
            "recurrent: input weight [24, 4] does not fit input [5, 3] and hidden weight [24, 6]");
  EXPECT_EQ(call(x, good, {}, Cell::kGru),
            "recurrent: hidden weight [24, 6] of gru should be [3 hidden, hidden]");
  EXPECT_EQ(call(x, with([](auto& w) { w.hidden_bias = Tensor::zeros({6}); }), {}, Cell::kLstm),
            "recurrent: bias [6] does not fit hidden weight [24, 6]");
  EXPECT_EQ(call(x, good, {Tensor::zeros({3, 6}), {}}, Cell::kLstm),
            "recurrent: initial h is [3, 6] but should be [2, 6], one row a sequence");
  EXPECT_EQ(call(x, good, {{}, Tensor::zeros({2, 5})}, Cell::kLstm),
            "recurrent: initial c is [2, 5] but should be [2, 6], one row a sequence");
  EXPECT_EQ(call(x, random_weights(Cell::kGru, 4, 6), {{}, Tensor::zeros({2, 6})}, Cell::kGru),
            "recurrent: an initial c [2, 6] was given to gru, which has none");
  EXPECT_EQ(error_of([&] {
              recurrent(x, packing, good, {}, {.mask = Tensor::zeros({5, 6})});
            }),
            "recurrent: a mask of [5, 6], but it should be [2, 6], one row a sequence");
}

TEST(Recurrent, CellsHaveNames) { expect_names<Cell>({"rnn_tanh", "rnn_relu", "lstm", "gru"}); }

TEST(RecurrentSchedule, WalksByStepLongestFirst) {
  const RecurrentSchedule forward(Packing::of({2, 0, 3, 2}));
  EXPECT_EQ(forward.sequences, (std::vector<int32_t>{2, 0, 3, 1}));
  EXPECT_EQ(forward.rows, (std::vector<int32_t>{2, 0, 5, 3, 1, 6, 4}));
  EXPECT_EQ(forward.last, (std::vector<int32_t>{6, 4, 5, -1}));
  ASSERT_EQ(forward.steps.size(), 3u);
  EXPECT_EQ(forward.steps[1].row, 3u);
  EXPECT_EQ(forward.steps[2].rows, 1u);
  const RecurrentSchedule reverse(Packing::of({2, 0, 3, 2}), true);
  EXPECT_EQ(reverse.rows, (std::vector<int32_t>{4, 1, 6, 3, 0, 5, 2}));
}

TEST(RecurrentSchedule, PartsShareRowsEvenly) {
  const auto borders = [](std::initializer_list<int32_t> lengths, size_t count) {
    std::vector<size_t> ends;
    size_t begin = 0;
    for (const auto part : RecurrentSchedule(Packing::of(lengths)).parts(count)) {
      EXPECT_EQ(part.begin, begin);
      ends.push_back(begin = part.end);
    }
    return ends;
  };
  EXPECT_EQ(borders({3, 3, 3, 3}, 2), (std::vector<size_t>{2, 4}));
  EXPECT_EQ(borders({1, 6, 2, 3, 0}, 2), (std::vector<size_t>{1, 5}));
  EXPECT_EQ(borders({9, 1}, 3), (std::vector<size_t>{1, 2}));
  EXPECT_EQ(borders({4, 4}, 1), (std::vector<size_t>{2}));
  EXPECT_EQ(borders({0, 0}, 2), (std::vector<size_t>{1, 2}));
  EXPECT_TRUE(borders({}, 2).empty());
}

TEST(RecurrentSchedule, SequencesOfOneRowStayInPlace) {
  EXPECT_TRUE(RecurrentSchedule(Packing::even(5, 1)).in_place());
  EXPECT_TRUE(RecurrentSchedule(Packing::even(1, 5)).in_place());
  EXPECT_FALSE(RecurrentSchedule(Packing::even(1, 5), true).in_place());
  EXPECT_FALSE(RecurrentSchedule(Packing::even(2, 2)).in_place());
  EXPECT_FALSE(RecurrentSchedule(Packing::of({0, 1})).in_place());
}

}  // namespace
}  // namespace attend
