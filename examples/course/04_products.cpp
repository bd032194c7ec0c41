// How large products of two vectors are. Where their elements are independent, of mean 0 and
// variance 1, the product of two vectors of width d has mean 0 and variance d. Divided by sqrt(d)
// it stays the same for every width. A vector with itself is another matter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"
#include "attend/inspect/draw.h"

using namespace attend;

constexpr size_t kQueries = 200, kKeys = 32;

Tensor random(size_t rows, size_t width, uint64_t stream) {
  Tensor x = Tensor::empty({rows, width});
  fill_normal(x.span(), RandomStream(5, stream), 0.0f, 1.0f);
  return x;
}

struct Measured {
  double deviation = 0.0;  // of the scores
  double largest = 0.0;    // weight of a row, on average
};

Measured measure(const Tensor& q, const Tensor& k, Score score) {
  Recorder recorder;
  recorder.request = {.scores = true};
  attention(q, k, k, {.score = score});
  Measured measured;
  const Tensor& weights = recorder.heads[0].weights;
  for (const float s : recorder.heads[0].scores.to_vector()) measured.deviation += double{s} * s;
  measured.deviation = std::sqrt(measured.deviation / (kQueries * kKeys));
  for (size_t row = 0; row < kQueries; ++row) {
    float most = 0.0f;
    for (const float w : weights.slice_rows(row, 1).to_vector()) most = std::max(most, w);
    measured.largest += most / kQueries;
  }
  return measured;
}

// Weights of eight queries on twelve keys.
HeatMap picture(const Tensor& q, const Tensor& k, Score score) {
  Recorder recorder;
  attention(q.slice_rows(0, 8), k.slice_rows(0, 12), k.slice_rows(0, 12), {.score = score});
  HeatMap map;
  map.title = fmt::format("{}, width {}", name_of(score), q.width());
  map.values = recorder.heads[0].weights;
  map.rows = std::vector<std::string>(8, ""), map.columns = std::vector<std::string>(12, "");
  return map;
}

int main(int count, char** arguments) {
  std::vector<HeatMap> maps;

  fmt::print("        size of a score          largest of 32 weights\n");
  fmt::print("width   q.k    scaled  sqrt(d)   q.k   scaled   q.q scaled\n");
  for (const size_t width : {4, 16, 64, 256, 1024}) {
    const Tensor q = random(kQueries, width, 1), k = random(kKeys, width, 2);
    const Measured plain = measure(q, k, Score::kDot), scaled = measure(q, k, Score::kScaledDot);
    double itself = 0.0;
    for (const float x : q.to_vector()) itself += double{x} * x;
    itself /= kQueries * std::sqrt(width);
    fmt::print("{:5}   {:5.1f}  {:6.2f}  {:7.1f}   {:.2f}  {:6.2f}   {:10.1f}\n", width,
               plain.deviation, scaled.deviation, std::sqrt(width), plain.largest, scaled.largest,
               itself);
    if (width == 16 || width == 256) {
      for (const Score score : {Score::kDot, Score::kScaledDot}) {
        maps.push_back(picture(q, k, score));
      }
    }
  }
  if (count > 1) std::ofstream(arguments[1]) << draw_maps(maps, PictureFormat::kSvg);
}

// Prints, numbers within 1 %:
//         size of a score          largest of 32 weights
// width   q.k    scaled  sqrt(d)   q.k   scaled   q.q scaled
//     4     1.9    0.94      2.0   0.32    0.15          2.0
//    16     3.9    0.99      4.0   0.62    0.16          3.9
//    64     7.9    0.99      8.0   0.82    0.17          8.0
//   256    16.0    1.00     16.0   0.90    0.17         15.9
//  1024    31.9    1.00     32.0   0.96    0.17         31.9
