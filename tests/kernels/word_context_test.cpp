#include "attend/kernels/word_context.h"

#include <cmath>

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

// Windows and outputs that differ from position to position; some windows are empty.
struct Windows {
  std::vector<uint32_t> begin, end, first_output;
  std::vector<int32_t> outputs;
  std::vector<float> signs;
  bool together;
  size_t reach;

  Windows(size_t positions, size_t table, size_t reach_of_all, bool all_together, size_t most)
      : together(all_together), reach(reach_of_all) {
    first_output.push_back(0);
    for (size_t p = 0; p < positions; ++p) {
      const size_t left = std::min(p, p * 7 % (reach + 1));
      const size_t right = std::min(positions - p - 1, p * 5 % (reach + 1));
      begin.push_back(static_cast<uint32_t>(p - left));
      end.push_back(static_cast<uint32_t>(p + right + 1));
      for (size_t k = 0; k < p % (most + 1); ++k) {
        outputs.push_back(static_cast<int32_t>((p * 13 + k * k) % table));
        signs.push_back(k == 0 ? -1.0f : (p + k) % 5 == 0 ? 0.0f : 1.0f);
      }
      first_output.push_back(static_cast<uint32_t>(outputs.size()));
    }
  }
  WordContexts contexts() const {
    return {begin, end, first_output, outputs, signs, together, reach};
  }
};

struct Expected {
  double sum = 0, count = 0;
  std::vector<double> dx, dy;
};

Expected plain_word_context(const WordContexts& c, const TestRows& x, const TestRows& y) {
  const size_t width = x.width();
  Expected e;
  e.dx.resize(x.count() * width);
  e.dy.resize(c.outputs.size() * width);
  for (size_t p = 0; p < c.positions(); ++p) {
    std::vector<size_t> window;
    for (size_t q = c.begin[p]; q < c.end[p]; ++q) {
      if (q != p) window.push_back(q);
    }
    if (window.empty() || c.first_output[p] == c.first_output[p + 1]) continue;
    const double share = 1 / std::sqrt(static_cast<double>(window.size()));
    const size_t answers = c.together ? 1 : window.size();
    e.count += static_cast<double>(answers);
    for (size_t a = 0; a < answers; ++a) {
      std::vector<double> h(width);
      for (size_t i = 0; i < window.size(); ++i) {
        if (!c.together && i != a) continue;
        for (size_t k = 0; k < width; ++k) {
          h[k] += double{x(window[i], k)} * (c.together ? share : 1);
        }
      }
      for (size_t o = c.first_output[p]; o < c.first_output[p + 1]; ++o) {
        const auto row = static_cast<size_t>(c.outputs[o]);
        double score = 0;
        for (size_t k = 0; k < width; ++k) score += h[k] * double{y(row, k)};
        const double sign = double{c.signs[o]};
        if (sign == 0) continue;
        e.sum += std::log1p(std::exp(sign * score));
        const double slope = sign / (1 + std::exp(-sign * score));
        for (size_t k = 0; k < width; ++k) {
          e.dy[o * width + k] += slope * h[k];
          for (size_t i = 0; i < window.size(); ++i) {
            if (!c.together && i != a) continue;
            e.dx[window[i] * width + k] += slope * double{y(row, k)} * (c.together ? share : 1);
          }
        }
      }
    }
  }
  return e;
}

// Writes each output's gradient to its row of dy, also where it is a slope times a sum.
WordContextLoss run(const Windows& windows, const TestRows& x, const TestRows& y,
                    std::vector<float>& dx, TestRows& dy) {
  const size_t positions = windows.begin.size();
  if (!windows.together) {
    return word_context(windows.contexts(), x, y, dx.data(), {.rows = dy});
  }
  TestRows sums(positions, x.width(), 4);
  std::vector<float> slopes(windows.outputs.size(), 77.0f);
  const WordContextLoss loss =
      word_context(windows.contexts(), x, y, dx.data(), {.slopes = slopes.data(), .sums = sums});
  EXPECT_TRUE(sums.frame_is_intact());
  for (size_t p = 0; p < positions; ++p) {
    for (size_t o = windows.first_output[p]; o < windows.first_output[p + 1]; ++o) {
      for (size_t k = 0; k < x.width(); ++k) dy(o, k) = slopes[o] * sums(p, k);
    }
  }
  return loss;
}

TEST(WordContext, IsThatOfPlainLoops) {
  for_each_target([] {
    for (const bool together : {false, true}) {
      for (const auto& [positions, width, reach, most] :
           {std::tuple<size_t, size_t, size_t, size_t>{0, 5, 3, 4},
            {1, 3, 2, 2},
            {7, 1, 2, 6},
            {70, 33, 5, 6},
            {100, 100, 5, 17},
            {40, 16, 40, 9}}) {
        const Windows windows(positions, 30, reach, together, most);
        const TestRows x(positions, width, 1), y(30, width, 2);
        std::vector<float> dx(positions * width, 77.0f);
        TestRows dy(windows.outputs.size(), width, 3);
        const WordContextLoss loss = run(windows, x, y, dx, dy);
        const Expected expected = plain_word_context(windows.contexts(), x, y);
        EXPECT_NEAR(loss.sum, expected.sum, 1e-5 * (1 + expected.sum));
        EXPECT_EQ(loss.count, expected.count);
        expect_near(dx, 2e-4, [&](size_t i) { return expected.dx[i]; });
        expect_rows_near(dy, 2e-4, [&](size_t i, size_t j) { return expected.dy[i * width + j]; });
        const WordContextLoss alone = word_context(windows.contexts(), x, y, nullptr, {});
        EXPECT_EQ(alone.sum, loss.sum);
      }
    }
  });
}

TEST(WordContext, HasTheSameBitsOnAnyThreads) {
  for (const bool together : {false, true}) {
    const Windows windows(500, 30, 5, together, 6);
    const TestRows x(500, 37, 1), y(30, 37, 2);
    expect_same_bits_on_any_threads([&] {
      std::vector<float> dx(500 * 37);
      TestRows dy(windows.outputs.size(), 37, 3);
      const WordContextLoss loss = run(windows, x, y, dx, dy);
      for (size_t i = 0; i < dy.count(); ++i) {
        for (size_t j = 0; j < dy.width(); ++j) dx.push_back(dy(i, j));
      }
      dx.push_back(static_cast<float>(loss.sum));
      return dx;
    });
  }
}

}  // namespace
}  // namespace attend::kernels
