#include "attend/kernels/recall.h"

#include <cmath>

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

// The steps of some sequences, with everything that the kernels read and write.
struct RecallCase {
  size_t sequences, steps, width, hidden;
  std::vector<TestRows> keys, h, c;
  std::vector<RecallStep> rows;
  TestRows q, vector, weights, dy;

  RecallCase(size_t n, size_t count, size_t attention, size_t state)
      : sequences(n),
        steps(count),
        width(attention),
        hidden(state),
        q(n, attention, 1),
        vector(1, attention, 2),
        weights(n, count, 3, 0),
        dy(n, 2 * state, 4) {
    for (size_t i = 0; i < count; ++i) {
      keys.emplace_back(n, attention, 10 + i);
      h.emplace_back(n, state, 100 + i);
      c.emplace_back(n, state, 200 + i);
    }
    for (size_t i = 0; i < count; ++i) {
      rows.push_back({matrix(keys[i]), matrix(h[i]), matrix(c[i])});
    }
    for (size_t s = 0; s < n; ++s) {  // as those of a softmax
      for (size_t i = 0; i < count; ++i) weights(s, i) = (weights(s, i) + 2) / (4.0f * count);
    }
  }

  static Matrix matrix(const Rows& x) { return {x.data, x.stride}; }
  RecallInputs inputs() { return {sequences, width, hidden, rows, matrix(q), vector.data()}; }

  double tanh_of(size_t s, size_t i, size_t j) const {
    return std::tanh(double{q(s, j)} + keys[i](s, j));
  }
  // The gradient of score i of sequence s.
  double dscore(size_t s, size_t i) const {
    const auto dweight = [&](size_t k) {
      double sum = 0;
      for (size_t j = 0; j < hidden; ++j) {
        sum += double{h[k](s, j)} * dy(s, j) + double{c[k](s, j)} * dy(s, hidden + j);
      }
      return sum;
    };
    double mean = 0;
    for (size_t k = 0; k < steps; ++k) mean += weights(s, k) * dweight(k);
    return weights(s, i) * (dweight(i) - mean);
  }
};

// Sizes that leave every remainder, on every SIMD target.
template <typename Test>
void for_each_recall(Test&& test) {
  constexpr size_t kSizes[][4] = {{0, 3, 4, 5},   {1, 1, 1, 1},   {2, 4, 3, 8},
                                  {3, 5, 17, 33}, {2, 7, 64, 15}, {1, 9, 31, 129}};
  for_each_target([&] {
    for (const auto& [sequences, steps, width, hidden] : kSizes) {
      RecallCase example(sequences, steps, width, hidden);
      test(example);
    }
  });
}

TEST(RecallKernel, ScoresAndMixtures) {
  for_each_recall([](RecallCase& x) {
    TestRows scores(x.sequences, x.steps, 5, 0), mixtures(x.sequences, 2 * x.hidden, 6, 0);
    recall_scores(x.inputs(), scores.data());
    expect_rows_near(scores, 2e-5, [&](size_t s, size_t i) {
      double sum = 0;
      for (size_t j = 0; j < x.width; ++j) sum += x.vector(0, j) * x.tanh_of(s, i, j);
      return sum;
    });
    recall_mixtures(x.inputs(), x.weights.data(), mixtures.data());
    expect_rows_near(mixtures, 1e-5, [&](size_t s, size_t j) {
      double sum = 0;
      for (size_t i = 0; i < x.steps; ++i) {
        sum += double{x.weights(s, i)} * (j < x.hidden ? x.h[i](s, j) : x.c[i](s, j - x.hidden));
      }
      return sum;
    });
  });
}

TEST(RecallKernel, GradientsAreAdded) {
  for_each_recall([](RecallCase& x) {
    std::vector<TestRows> dkeys, dh, dc;
    for (size_t i = 0; i < x.steps; ++i) {
      dkeys.emplace_back(x.sequences, x.width, 20 + i);
      dh.emplace_back(x.sequences, x.hidden, 21 + i);
      dc.emplace_back(x.sequences, x.hidden, 22 + i);
    }
    TestRows dq(x.sequences, x.width, 23), dvectors(x.sequences, x.width, 24, 0);
    const std::vector<TestRows> dkeys_before = dkeys, dh_before = dh, dc_before = dc;
    const TestRows dq_before = dq, dvectors_before = dvectors;
    const auto places = [](std::vector<TestRows>& all) {
      std::vector<MutableMatrix> found;
      for (TestRows& each : all) {
        const MutableRows rows = each;
        found.push_back({rows.data, rows.stride});
      }
      return found;
    };
    std::vector<MutableMatrix> to_keys = places(dkeys), to_h = places(dh), to_c = places(dc);
    to_h[0] = to_keys[0] = {nullptr, 0};  // not wanted
    const MutableRows to_q = dq;
    recall_backward(x.inputs(), {x.weights.data(),
                                 RecallCase::matrix(x.dy),
                                 to_keys,
                                 to_h,
                                 to_c,
                                 {to_q.data, to_q.stride},
                                 dvectors.data()});
    const double tolerance = 2e-4;
    for (size_t i = 0; i < x.steps; ++i) {
      const bool wanted = i > 0;
      expect_rows_near(dh[i], tolerance, [&](size_t s, size_t j) {
        return dh_before[i](s, j) + (wanted ? double{x.weights(s, i)} * x.dy(s, j) : 0.0);
      });
      expect_rows_near(dc[i], tolerance, [&](size_t s, size_t j) {
        return dc_before[i](s, j) + double{x.weights(s, i)} * x.dy(s, x.hidden + j);
      });
      expect_rows_near(dkeys[i], tolerance, [&](size_t s, size_t j) {
        const double t = x.tanh_of(s, i, j);
        const double slope = x.dscore(s, i) * x.vector(0, j) * (1 - t * t);
        return dkeys_before[i](s, j) + (wanted ? slope : 0.0);
      });
    }
    expect_rows_near(dq, tolerance, [&](size_t s, size_t j) {
      double sum = dq_before(s, j);
      for (size_t i = 0; i < x.steps; ++i) {
        const double t = x.tanh_of(s, i, j);
        sum += x.dscore(s, i) * x.vector(0, j) * (1 - t * t);
      }
      return sum;
    });
    expect_rows_near(dvectors, tolerance, [&](size_t s, size_t j) {
      double sum = dvectors_before(s, j);
      for (size_t i = 0; i < x.steps; ++i) sum += x.dscore(s, i) * x.tanh_of(s, i, j);
      return sum;
    });
  });
}

}  // namespace
}  // namespace attend::kernels
