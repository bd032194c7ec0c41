// How alike are two vectors? The dot product counts direction, length and sign; the cosine counts
// direction and sign alone. Of centred columns they are the covariance and the correlation.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"

using namespace attend;

// Scores of every query with every key, [queries, keys], as attention computes them.
Tensor scores(const Tensor& queries, const Tensor& keys, Score score) {
  Recorder recorder;
  recorder.request = {.weights = false, .scores = true};
  attention(queries, keys, keys, {.score = score});
  return recorder.heads[0].scores;
}

double mean(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

std::vector<float> centred(std::vector<float> x) {
  const double middle = mean(x);
  for (float& value : x) value -= static_cast<float>(middle);
  return x;
}

int main() {
  // Columns: how much romance, how much violence. Below 0: the opposite of it.
  const std::array<std::string, 3> users = {"Ann", "Ben", "Cat"};
  const Tensor tastes = Tensor::of({2, -1,     // romance, and no violence please
                                    0, 2,      // violence
                                    0, 0.5f},  // like Ben, but does not care as much
                                   {3, 2});
  const std::array<std::string, 4> films = {"love story", "gentle one", "war film", "war romance"};
  const Tensor contents = Tensor::of({3, -1.5f,  // all of Ann's taste
                                      1, -0.5f,  // the same, a third as strong
                                      -1, 3,     //
                                      2, 2},     // both
                                     {4, 2});
  for (const Score score : {Score::kDot, Score::kCosine}) {
    const Tensor s = scores(tastes, contents, score);
    fmt::print("{:<7}", name_of(score));
    for (const auto& film : films) fmt::print(" {:>12}", film);
    fmt::print("\n");
    for (size_t user = 0; user < users.size(); ++user) {
      fmt::print("{:<7}", users[user]);
      for (size_t film = 0; film < films.size(); ++film) {
        fmt::print(" {:12.2f}", s.data()[user * films.size() + film]);
      }
      fmt::print("\n");
    }
  }

  // What six people gave two films. Textbook formulas, and the same from products of vectors.
  const std::vector<float> a{5, 4, 1, 2, 4, 2}, b{4, 5, 2, 1, 5, 1};
  double product = 0.0, a_squares = 0.0, b_squares = 0.0;
  const auto n = static_cast<double>(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    product += a[i] * b[i] / n, a_squares += a[i] * a[i] / n, b_squares += b[i] * b[i] / n;
  }
  const double covariance = product - mean(a) * mean(b);
  const double correlation =
      covariance / std::sqrt((a_squares - mean(a) * mean(a)) * (b_squares - mean(b) * mean(b)));
  const auto score_of = [](const std::vector<float>& x, const std::vector<float>& y, Score score) {
    return scores(Tensor::of(x, {1, x.size()}), Tensor::of(y, {1, y.size()}), score).item();
  };
  fmt::print("covariance  {:.3f}, dot of centred / n    {:.3f}, dot of raw / n    {:.3f}\n",
             covariance, score_of(centred(a), centred(b), Score::kDot) / n,
             score_of(a, b, Score::kDot) / n);
  fmt::print("correlation {:.3f}, cosine of centred     {:.3f}, cosine of raw     {:.3f}\n",
             correlation, score_of(centred(a), centred(b), Score::kCosine),
             score_of(a, b, Score::kCosine));
}

// Prints, numbers within 1 %:
// dot       love story   gentle one     war film  war romance
// Ann             7.50         2.50        -5.00         2.00
// Ben            -3.00        -1.00         6.00         4.00
// Cat            -0.75        -0.25         1.50         1.00
// cosine    love story   gentle one     war film  war romance
// Ann             1.00         1.00        -0.71         0.32
// Ben            -0.45        -0.45         0.95         0.71
// Cat            -0.45        -0.45         0.95         0.71
// covariance  2.000, dot of centred / n    2.000, dot of raw / n    11.000
// correlation 0.816, cosine of centred     0.816, cosine of raw     0.957
