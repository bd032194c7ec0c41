#include "attend/kernels/gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {
namespace {

// A matrix whose rows lie further apart than they are long, starting off any alignment.
struct GateRows {
  GateRows(size_t rows, size_t columns, uint64_t stream)
      : stride(columns + 3), data(rows * stride + 1, kUntouched) {
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        (*this)(i, j) = static_cast<float>(RandomStream(5, stream).normal(i * columns + j));
      }
    }
  }
  float& operator()(size_t i, size_t j) { return data[1 + i * stride + j]; }
  double operator()(size_t i, size_t j) const { return data[1 + i * stride + j]; }
  Matrix in() const { return {data.data() + 1, stride}; }
  MutableMatrix out() { return {data.data() + 1, stride}; }

  static constexpr float kUntouched = -7777.0f;
  size_t stride;
  std::vector<float> data;
};

std::vector<float> bias(size_t size, uint64_t stream) {
  std::vector<float> x(size);
  fill_normal(x, RandomStream(6, stream), 0.0f, 1.0f);
  return x;
}

double gate_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

constexpr double kTolerance = 2e-6;

struct Shape {
  size_t rows, width;
};
const Shape kShapes[] = {{0, 5}, {3, 0}, {1, 1}, {2, 7}, {3, 8}, {5, 33}, {70, 130}};

// Gaps between rows hold what they held.
void expect_gaps_untouched(const GateRows& m, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = columns; j < m.stride; ++j) ASSERT_EQ(m(i, j), GateRows::kUntouched);
  }
}

TEST(Gates, RnnStepFollowsItsEquation) {
  for_each_target([] {
    for (const auto [rows, width] : kShapes) {
      for (const auto activation : {RnnActivation::kTanh, RnnActivation::kRelu}) {
        GateRows gates(rows, width, 1), h(rows, width, 3);
        const GateRows x = gates, hx(rows, width, 2);
        const auto bx = bias(width, 4), bh = bias(width, 5);
        rnn_step(
            {{rows, width, gates.out(), hx.in(), bx.data(), bh.data()}, activation, {h.out()}});
        for (size_t i = 0; i < rows; ++i) {
          for (size_t j = 0; j < width; ++j) {
            const double sum = x(i, j) + bx[j] + hx(i, j) + bh[j];
            const double expected =
                activation == RnnActivation::kTanh ? std::tanh(sum) : std::max(sum, 0.0);
            ASSERT_NEAR(h(i, j), expected, kTolerance);
            ASSERT_EQ(gates(i, j), h(i, j));
          }
        }
        expect_gaps_untouched(h, rows, width);
      }
    }
  });
}

TEST(Gates, RnnBackwardIsTheSlope) {
  for_each_target([] {
    for (const auto [rows, width] : kShapes) {
      for (const auto activation : {RnnActivation::kTanh, RnnActivation::kRelu}) {
        GateRows h(rows, width, 1), dy(rows, width, 2), dh(rows, width, 3), d_gates(rows, width, 4);
        rnn_backward({{rows, width, dy.in(), dh.out(), d_gates.out()}, activation, h.in()});
        for (size_t i = 0; i < rows; ++i) {
          for (size_t j = 0; j < width; ++j) {
            const double d = double{dy(i, j)} + dh(i, j), y = h(i, j);
            const double slope = activation == RnnActivation::kTanh ? 1 - y * y : (y > 0 ? 1 : 0);
            ASSERT_NEAR(d_gates(i, j), d * slope, kTolerance * (1 + std::abs(d * slope)));
          }
        }
        expect_gaps_untouched(d_gates, rows, width);
      }
    }
  });
}

// One LSTM cell in double. `sums` are the i, f, g, o before activation.
struct LstmCell {
  LstmCell(const double sums[4], double c_prev)
      : i(gate_sigmoid(sums[0])),
        f(gate_sigmoid(sums[1])),
        g(std::tanh(sums[2])),
        o(gate_sigmoid(sums[3])),
        c(f * c_prev + i * g),
        h(o * std::tanh(c)) {}
  double i, f, g, o, c, h;
};

TEST(Gates, LstmStepFollowsItsEquations) {
  for_each_target([] {
    for (const auto [rows, width] : kShapes) {
      GateRows gates(rows, 4 * width, 1), c_prev(rows, width, 3), c(rows, width, 4),
          h(rows, width, 5);
      const GateRows x = gates, hx(rows, 4 * width, 2);
      const auto bx = bias(4 * width, 6), bh = bias(4 * width, 7);
      lstm_step({{rows, width, gates.out(), hx.in(), bx.data(), bh.data()},
                 c_prev.in(),
                 c.out(),
                 {h.out()}});
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < width; ++j) {
          double sums[4];
          for (size_t k = 0; k < 4; ++k) {
            const size_t at = k * width + j;
            sums[k] = x(i, at) + bx[at] + hx(i, at) + bh[at];
          }
          const LstmCell cell(sums, c_prev(i, j));
          ASSERT_NEAR(gates(i, j), cell.i, kTolerance);
          ASSERT_NEAR(gates(i, width + j), cell.f, kTolerance);
          ASSERT_NEAR(gates(i, 2 * width + j), cell.g, kTolerance);
          ASSERT_NEAR(gates(i, 3 * width + j), cell.o, kTolerance);
          ASSERT_NEAR(c(i, j), cell.c, kTolerance * 4);
          ASSERT_NEAR(h(i, j), cell.h, kTolerance);
        }
      }
      expect_gaps_untouched(gates, rows, 4 * width);
      expect_gaps_untouched(c, rows, width);
      expect_gaps_untouched(h, rows, width);
    }
  });
}

// Gradients against central differences of the cell in double: loss = wh h + wc c.
TEST(Gates, LstmBackwardMatchesDifferences) {
  for_each_target([] {
    for (const auto [rows, width] : kShapes) {
      GateRows gates(rows, 4 * width, 1), c(rows, width, 2), h(rows, width, 3), dc(rows, width, 4);
      const GateRows x = gates, c_prev(rows, width, 5), dy(rows, width, 6), wc = dc;
      GateRows dh(rows, width, 7);
      lstm_step({{rows, width, gates.out()}, c_prev.in(), c.out(), {h.out()}});
      lstm_backward({{rows, width, dy.in(), dh.out(), gates.out()},
                     gates.in(),
                     c_prev.in(),
                     c.in(),
                     dc.out()});
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < width; ++j) {
          const auto loss = [&](size_t moved, double by) {
            double sums[4];
            for (size_t k = 0; k < 4; ++k) sums[k] = x(i, k * width + j) + (k == moved ? by : 0);
            const LstmCell cell(sums, c_prev(i, j) + (moved == 4 ? by : 0));
            return (double{dy(i, j)} + dh(i, j)) * cell.h + wc(i, j) * cell.c;
          };
          constexpr double kStep = 1e-5;
          for (size_t k = 0; k < 5; ++k) {
            const double expected = (loss(k, kStep) - loss(k, -kStep)) / (2 * kStep);
            const double actual = k < 4 ? gates(i, k * width + j) : dc(i, j);
            ASSERT_NEAR(actual, expected, 1e-5 * (1 + std::abs(expected))) << "input " << k;
          }
        }
      }
      expect_gaps_untouched(gates, rows, 4 * width);
      expect_gaps_untouched(dc, rows, width);
    }
  });
}

// The cell's state is kept, so that the slope of its tangent is as precise where it is saturated.
TEST(Gates, LstmBackwardOfASaturatedCellIsPrecise) {
  for_each_target([] {
    const std::vector<float> states{0.0f, 0.5f, 3.0f, 8.0f, -12.0f, 20.0f, -40.0f};
    const size_t rows = states.size();
    std::vector<float> gates(rows * 4, 1.0f), dc(rows, 0.0f), dh(rows, 0.0f), d_gates(rows * 4);
    const std::vector<float> dy(rows, 1.0f);
    lstm_backward({{rows, 1, {dy.data(), 1}, {dh.data(), 1}, {d_gates.data(), 4}},
                   {gates.data(), 4},
                   {nullptr, 0},
                   {states.data(), 1},
                   {dc.data(), 1}});
    for (size_t i = 0; i < rows; ++i) {
      const double e = std::exp(-2 * std::abs(double{states[i]}));
      const double slope = 4 * e / ((1 + e) * (1 + e));
      EXPECT_NEAR(dc[i], slope, 1e-5 * slope) << states[i];
    }
  });
}

// One GRU cell in double; h_n is the part of n that comes from h_prev, bias included.
struct GruCell {
  GruCell(double r_sum, double z_sum, double x_n, double h_n, double h_prev)
      : r(gate_sigmoid(r_sum)),
        z(gate_sigmoid(z_sum)),
        n(std::tanh(x_n + r * h_n)),
        h((1 - z) * n + z * h_prev) {}
  double r, z, n, h;
};

TEST(Gates, GruStepFollowsItsEquations) {
  for_each_target([] {
    for (const auto [rows, width] : kShapes) {
      GateRows gates(rows, 3 * width, 1), h(rows, width, 3), h_n(rows, width, 4);
      const GateRows x = gates, hx(rows, 3 * width, 2), h_prev(rows, width, 5);
      const auto bx = bias(3 * width, 6), bh = bias(3 * width, 7);
      gru_step({{rows, width, gates.out(), hx.in(), bx.data(), bh.data()},
                h_prev.in(),
                {h.out()},
                h_n.out()});
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < width; ++j) {
          const auto from_x = [&](size_t k) { return x(i, k * width + j) + bx[k * width + j]; };
          const auto from_h = [&](size_t k) { return hx(i, k * width + j) + bh[k * width + j]; };
          const GruCell cell(from_x(0) + from_h(0), from_x(1) + from_h(1), from_x(2), from_h(2),
                             h_prev(i, j));
          ASSERT_NEAR(gates(i, j), cell.r, kTolerance);
          ASSERT_NEAR(gates(i, width + j), cell.z, kTolerance);
          ASSERT_NEAR(gates(i, 2 * width + j), cell.n, kTolerance);
          ASSERT_NEAR(h_n(i, j), from_h(2), kTolerance);
          ASSERT_NEAR(h(i, j), cell.h, kTolerance * 2);
        }
      }
      expect_gaps_untouched(gates, rows, 3 * width);
      expect_gaps_untouched(h, rows, width);
      expect_gaps_untouched(h_n, rows, width);
    }
  });
}

TEST(Gates, GruBackwardMatchesDifferences) {
  for_each_target([] {
    for (const auto [rows, width] : kShapes) {
      GateRows gates(rows, 3 * width, 1), h(rows, width, 2), h_n(rows, width, 3),
          dh(rows, width, 4);
      const GateRows x = gates, hx(rows, 3 * width, 5), h_prev(rows, width, 6), dy(rows, width, 7),
                     dh_in = dh;
      gru_step({{rows, width, gates.out(), hx.in()}, h_prev.in(), {h.out()}, h_n.out()});
      gru_backward({{rows, width, dy.in(), dh.out(), gates.out()},
                    gates.in(),
                    h_n.in(),
                    h_prev.in(),
                    h_n.out()});
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < width; ++j) {
          const auto loss = [&](size_t moved, double by) {
            const auto at = [&](size_t input, double value) {
              return value + (moved == input ? by : 0);
            };
            const GruCell cell(at(0, x(i, j) + hx(i, j)), at(1, x(i, width + j) + hx(i, width + j)),
                               at(2, x(i, 2 * width + j)), at(3, hx(i, 2 * width + j)),
                               at(4, h_prev(i, j)));
            return (double{dy(i, j)} + dh_in(i, j)) * cell.h;
          };
          constexpr double kStep = 1e-5;
          for (size_t k = 0; k < 5; ++k) {
            const double expected = (loss(k, kStep) - loss(k, -kStep)) / (2 * kStep);
            const double actual = k < 3 ? gates(i, k * width + j) : k == 3 ? h_n(i, j) : dh(i, j);
            ASSERT_NEAR(actual, expected, 1e-5 * (1 + std::abs(expected))) << "input " << k;
          }
        }
      }
      expect_gaps_untouched(gates, rows, 3 * width);
      expect_gaps_untouched(h_n, rows, width);
      expect_gaps_untouched(dh, rows, width);
    }
  });
}

TEST(Gates, NullInputsAreZeros) {
  constexpr size_t kRows = 3, kWidth = 13;
  const GateRows zeros = [] {
    GateRows m(kRows, 4 * kWidth, 0);
    std::fill(m.data.begin(), m.data.end(), 0.0f);
    return m;
  }();
  const std::vector<float> no_bias(4 * kWidth, 0.0f);
  GateRows a(kRows, 4 * kWidth, 1), b = a, ca(kRows, kWidth, 2), cb = ca, ha = ca, hb = ca;
  lstm_step({{kRows, kWidth, a.out()}, {nullptr, 0}, ca.out(), {ha.out()}});
  lstm_step({{kRows, kWidth, b.out(), zeros.in(), no_bias.data(), no_bias.data()},
             zeros.in(),
             cb.out(),
             {hb.out()}});
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(ca.data, cb.data);
  EXPECT_EQ(ha.data, hb.data);
  gru_step({{kRows, kWidth, a.out()}, {nullptr, 0}, {ha.out()}});
  gru_step({{kRows, kWidth, b.out(), zeros.in(), no_bias.data(), no_bias.data()},
            zeros.in(),
            {hb.out()}});
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(ha.data, hb.data);
}

// With a table of rows, y is written and dy read there, and only rows that go on reach h.
TEST(Gates, RowsOfTheOutputMayBeInAnotherOrder) {
  constexpr size_t kRows = 4, kGoOn = 2, kWidth = 11;
  const int32_t order[kRows] = {5, 0, 3, 1};
  GateRows y(kRows, kWidth, 1), y_moved(6, kWidth, 2), h(kRows, kWidth, 3);
  const GateOutputs plain{y.out()}, moved{y_moved.out(), order, h.out(), kGoOn};
  const GateRows h_before = h, y_before = y_moved;
  const auto expect_moved = [&] {
    for (size_t j = 0; j < kWidth; ++j) {
      for (size_t i = 0; i < kRows; ++i) {
        ASSERT_EQ(y_moved(static_cast<size_t>(order[i]), j), y(i, j));
        ASSERT_EQ(h(i, j), i < kGoOn ? y(i, j) : h_before(i, j));
      }
      for (const size_t i : {2, 4}) ASSERT_EQ(y_moved(i, j), y_before(i, j));
    }
  };
  for (const GateOutputs& out : {plain, moved}) {
    GateRows gates(kRows, kWidth, 4);
    rnn_step({{kRows, kWidth, gates.out()}, RnnActivation::kTanh, out});
  }
  expect_moved();
  for (const GateOutputs& out : {plain, moved}) {
    GateRows gates(kRows, 4 * kWidth, 5), c(kRows, kWidth, 6);
    lstm_step({{kRows, kWidth, gates.out()}, {nullptr, 0}, c.out(), out});
  }
  expect_moved();
  for (const GateOutputs& out : {plain, moved}) {
    GateRows gates(kRows, 3 * kWidth, 7);
    gru_step({{kRows, kWidth, gates.out()}, {nullptr, 0}, out});
  }
  expect_moved();
}

TEST(Gates, RowsOfTheGradientMayBeInAnotherOrder) {
  constexpr size_t kRows = 4, kWidth = 11;
  const int32_t order[kRows] = {5, 0, 3, 1};
  const GateRows dy_moved(6, kWidth, 1), h(kRows, kWidth, 2), gates(kRows, 4 * kWidth, 3);
  GateRows dy(kRows, kWidth, 0);
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kWidth; ++j) {
      dy(i, j) = static_cast<float>(dy_moved(static_cast<size_t>(order[i]), j));
    }
  }
  std::vector<std::vector<float>> results[3];
  for (const bool moved : {false, true}) {
    GateRows dh(kRows, kWidth, 4), dc(kRows, kWidth, 5), d_gates(kRows, 4 * kWidth, 6);
    const GateGradients grad{kRows,    kWidth,        moved ? dy_moved.in() : dy.in(),
                             dh.out(), d_gates.out(), moved ? order : nullptr};
    rnn_backward({grad, RnnActivation::kTanh, h.in()});
    results[0].push_back(d_gates.data);
    lstm_backward({grad, gates.in(), {nullptr, 0}, h.in(), dc.out()});
    results[1].push_back(d_gates.data);
    gru_backward({grad, gates.in(), h.in(), {nullptr, 0}, dc.out()});
    results[2].push_back(d_gates.data);
  }
  for (const auto& result : results) EXPECT_EQ(result[0], result[1]);
}

// Everything is updated in place where it may be: a row that two threads took would show.
TEST(Gates, SameBitsForAnyNumberOfThreads) {
  constexpr size_t kRows = 61, kWidth = 300;
  const auto run = [](int threads) {
    const ThreadCountScope scope(threads);
    GateRows rnn(kRows, kWidth, 1), lstm(kRows, 4 * kWidth, 2), gru(kRows, 3 * kWidth, 3);
    GateRows y(kRows, kWidth, 4), c(kRows, kWidth, 5), h(kRows, kWidth, 6), h_n(kRows, kWidth, 7);
    const GateRows before = c, dy(kRows, kWidth, 8);
    GateRows dh(kRows, kWidth, 9), dc(kRows, kWidth, 10);
    rnn_step({{kRows, kWidth, rnn.out()}, RnnActivation::kTanh, {y.out()}});
    lstm_step({{kRows, kWidth, lstm.out()}, c.in(), c.out(), {y.out()}});
    gru_step({{kRows, kWidth, gru.out()}, h.in(), {h.out()}, h_n.out()});
    const std::vector after_steps{rnn.data, lstm.data, gru.data, y.data, c.data, h.data, h_n.data};
    rnn_backward({{kRows, kWidth, dy.in(), dh.out(), rnn.out()}, RnnActivation::kTanh, rnn.in()});
    lstm_backward(
        {{kRows, kWidth, dy.in(), dh.out(), lstm.out()}, lstm.in(), before.in(), c.in(), dc.out()});
    gru_backward({{kRows, kWidth, dy.in(), dh.out(), gru.out()},
                  gru.in(),
                  h_n.in(),
                  before.in(),
                  h_n.out()});
    const std::vector after_gradients{rnn.data, lstm.data, gru.data, dh.data, dc.data, h_n.data};
    return std::pair(after_steps, after_gradients);
  };
  const auto alone = run(1);
  EXPECT_EQ(run(2), alone);
  EXPECT_EQ(run(4), alone);
}

}  // namespace
}  // namespace attend::kernels
