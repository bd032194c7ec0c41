// A recommender: a vector for each user, a vector for each film, and their product is the rating
// (Koren et al., 2009). A quarter of the ratings is known; the vectors are learned from these, and
// asked for the others. A cosine cannot say how strongly somebody feels.
#include <fmt/format.h>

#include <cmath>

#include "attend/nn/init.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/ops/norm.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kUsers = 120, kFilms = 80, kTastes = 3, kWidth = 3;

// Ratings from hidden tastes: some people care much, others little, and so it is with films.
struct Ratings {
  Tensor values = Tensor::empty({kUsers, kFilms});
  Tensor known = Tensor::zeros({kUsers, kFilms});  // 1 for a quarter of them

  Ratings() {
    const RandomStream random(1, 0), noise(1, 1), chosen(1, 2);
    for (size_t u = 0; u < kUsers; ++u) {
      for (size_t f = 0; f < kFilms; ++f) {
        double rating = 0.3 * noise.normal(u * kFilms + f);
        for (size_t i = 0; i < kTastes; ++i) {
          rating += random.normal(u * kTastes + i) * random.normal(1'000'000 + f * kTastes + i);
        }
        values.data()[u * kFilms + f] = static_cast<float>(rating);
        known.data()[u * kFilms + f] = chosen.below(u * kFilms + f, 4) == 0 ? 1.0f : 0.0f;
      }
    }
  }
};

struct Recommender {
  bool cosine;
  Tensor users, films;
  Tensor strength;  // what cosines are multiplied by, one number for all

  Recommender(bool by_cosine, Rng& rng)
      : cosine(by_cosine),
        users(parameter({kUsers, kWidth}, Init::kNormal, rng, 0.5f)),
        films(parameter({kFilms, kWidth}, Init::kNormal, rng, 0.5f)),
        strength(constant_parameter({1}, 1.0f)) {}

  Tensor operator()() const {
    if (!cosine) return matmul(users, films, {.transpose_b = true});
    const Tensor to_length_one =
        Tensor::full({kWidth}, 1.0f / std::sqrt(static_cast<float>(kWidth)));
    const Tensor cosines = matmul(rms_norm(users, to_length_one), rms_norm(films, to_length_one),
                                  {.transpose_b = true});
    return multiply(cosines.reshape({cosines.size(), 1}), strength).reshape({kUsers, kFilms});
  }

  void visit(Visitor& v) {
    v("users", users);
    v("films", films);
    v("strength", strength);
  }
};

// Root of the mean squared error over the ratings that were not known, and how often the better of
// two films is named, of all pairs of a user's unknown ones that differ by more than 1.
void report(const char* name, const Tensor& guessed, const Ratings& ratings) {
  double squares = 0.0, count = 0.0, right = 0.0, pairs = 0.0;
  for (size_t u = 0; u < kUsers; ++u) {
    const float* truth = ratings.values.data() + u * kFilms;
    const float* guess = guessed.data() + u * kFilms;
    const float* known = ratings.known.data() + u * kFilms;
    for (size_t f = 0; f < kFilms; ++f) {
      if (known[f] != 0.0f) continue;
      squares += (guess[f] - truth[f]) * (guess[f] - truth[f]), count += 1.0;
      for (size_t g = 0; g < kFilms; ++g) {
        if (known[g] != 0.0f || truth[f] < truth[g] + 1.0f) continue;
        pairs += 1.0, right += guess[f] > guess[g] ? 1.0 : guess[f] == guess[g] ? 0.5 : 0.0;
      }
    }
  }
  fmt::print("{:<16} error {:.2f}, better of two films {:3.0f} %\n", name,
             std::sqrt(squares / count), 100.0 * right / pairs);
}

int main() {
  const Ratings ratings;
  report("always the mean", Tensor::zeros({kUsers, kFilms}), ratings);
  for (const bool cosine : {true, false}) {
    Rng rng(2);
    Recommender model(cosine, rng);
    Optimizer optimizer(parameters(model), {.rate = 0.03, .weight_decay = 0.03});
    for (int step = 0; step < 400; ++step) {
      const Tensor wrong = multiply(subtract(model(), ratings.values), ratings.known);
      backward(mean(multiply(wrong, wrong)));
      optimizer.step();
    }
    const NoGrad no_grad;
    report(cosine ? "cosine" : "dot product", model(), ratings);
  }
}

// Prints, numbers within 5 %:
// always the mean  error 1.78, better of two films  50 %
// cosine           error 0.97, better of two films  94 %
// dot product      error 0.35, better of two films 100 %
