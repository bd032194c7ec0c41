// Attention as a dictionary that is looked up softly: a query near one key gets its value, a query
// between two keys gets a mixture, and the temperature says how soft that is.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "attend/attention/attention.h"

using namespace attend;

// A direction in the plane, twelve to a circle, as on a clock.
std::vector<float> hand(double hour) {
  const double angle = hour * std::numbers::pi / 6.0;
  return {static_cast<float>(std::sin(angle)), static_cast<float>(std::cos(angle))};
}

Tensor hands(std::initializer_list<double> hours) {
  std::vector<float> rows;
  for (const double hour : hours) {
    for (const float x : hand(hour)) rows.push_back(x);
  }
  return Tensor::of(rows, {hours.size(), 2});
}

int main() {
  const Tensor keys = hands({0, 3, 6, 9});                     // north, east, south, west
  const Tensor values = Tensor::of({10, 20, 30, 40}, {4, 1});  // what each key stands for
  const std::vector<double> asked{3, 1.5, 7};                  // at a key, between two, near one
  const Tensor queries = hands({3, 1.5, 7});

  for (const float temperature : {0.01f, 0.3f, 100.0f}) {
    const Tensor found =
        attention(queries, keys, values, {.score = Score::kCosine, .temperature = temperature})
            .output;
    fmt::print("temperature {:>6}:", temperature);
    for (size_t i = 0; i < asked.size(); ++i) {
      fmt::print("  at {} o'clock {:.1f}", asked[i], found.data()[i]);
    }
    fmt::print("\n");
  }

  // A hard look-up takes the nearest key and nothing else.
  const Tensor hard = attention(queries, keys, values,
                                {.score = Score::kCosine, .weighting = Weighting::kHardArgmax})
                          .output;
  fmt::print("hard: {:.0f} and {:.0f}\n", hard.data()[0], hard.data()[2]);
}

// Prints:
// temperature   0.01:  at 3 o'clock 20.0  at 1.5 o'clock 15.0  at 7 o'clock 30.0
// temperature    0.3:  at 3 o'clock 20.0  at 1.5 o'clock 15.2  at 7 o'clock 32.1
// temperature    100:  at 3 o'clock 25.0  at 1.5 o'clock 24.9  at 7 o'clock 25.1
// hard: 20 and 30
