#include "attend/ops/crf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"
#include "tests/special_values.h"

namespace attend {
namespace {

using plain::Plain;

// The plain twin: every tag sequence of every sequence, by its number.
struct EnumeratedCrf {
  const Plain &emissions, &transitions, &start, &end;

  size_t tags() const { return emissions.width(); }
  size_t sequences(size_t length) const {
    size_t count = 1;
    for (size_t t = 0; t < length; ++t) count *= tags();
    return count;
  }
  std::vector<size_t> path(size_t number, size_t length) const {
    std::vector<size_t> found(length);
    for (size_t& tag : found) {
      tag = number % tags();
      number /= tags();
    }
    return found;
  }
  double score(const std::vector<size_t>& path, size_t row) const {
    if (path.empty()) return 0;
    double sum = start.values[path.front()] + end.values[path.back()];
    for (size_t t = 0; t < path.size(); ++t) {
      sum += emissions(row + t, path[t]);
      if (t > 0) sum += transitions(path[t - 1], path[t]);
    }
    return sum;
  }
};

// Lengths of sequences that have so many rows together: 1, 0, 4, 2, 5, 1, ...
Packing crf_packing(size_t rows) {
  const int32_t pattern[] = {1, 0, 4, 2, 5};
  std::vector<int32_t> lengths = {0};
  for (size_t i = 0; rows > 0; ++i) {
    lengths.push_back(std::min(pattern[i % 5], static_cast<int32_t>(rows)));
    rows -= static_cast<size_t>(lengths.back());
  }
  return Packing(lengths);
}

// A row in `ignored` has no gold tag.
Tensor crf_gold(size_t rows, size_t tags, size_t ignored) {
  Tensor gold = Tensor::empty({rows}, DType::kInt32);
  for (size_t i = 0; i < rows; ++i) {
    gold.indices()[i] =
        i % ignored == ignored - 1 ? kIgnoredTarget : static_cast<int32_t>(i * i % tags);
  }
  return gold;
}

bool agrees(const std::vector<size_t>& path, const int32_t* gold) {
  for (size_t t = 0; t < path.size(); ++t) {
    if (gold[t] != kIgnoredTarget && gold[t] != static_cast<int32_t>(path[t])) return false;
  }
  return true;
}

Plain plain_crf(const std::vector<Plain>& in, size_t ignored) {
  const EnumeratedCrf crf{in[0], in[1], in[2], in[3]};
  const Packing packing = crf_packing(in[0].rows());
  const Tensor gold = crf_gold(in[0].rows(), crf.tags(), ignored);
  Plain y(Shape{packing.count()});
  for (size_t s = 0; s < packing.count(); ++s) {
    double right = 0, all = 0;
    for (size_t n = 0; n < crf.sequences(packing.length(s)); ++n) {
      const auto path = crf.path(n, packing.length(s));
      const double power = std::exp(crf.score(path, packing.begin(s)));
      all += power;
      if (agrees(path, gold.indices() + packing.begin(s))) right += power;
    }
    y.values[s] = std::log(right / all);
  }
  return y;
}

OpCase crf_case(const char* name, size_t ignored) {
  const auto shapes = [](size_t rows, size_t tags) {
    return std::vector<Shape>{{rows, tags}, {tags, tags}, {tags}, {tags}};
  };
  return {.name = name,
          .shapes = {shapes(13, 3), shapes(1, 4), shapes(0, 2), shapes(12, 1)},
          .op =
              [ignored](const std::vector<Tensor>& in) {
                return crf_log_likelihood(in[0], crf_packing(in[0].rows()),
                                          crf_gold(in[0].rows(), in[0].width(), ignored),
                                          {in[1], in[2], in[3]});
              },
          .plain = [ignored](const std::vector<Plain>& in) { return plain_crf(in, ignored); },
          .large = shapes(300, 17)};
}

const RegisterOps kCrfCases({
    crf_case("CrfLogLikelihood", 1000),
    crf_case("CrfLogLikelihoodOfSomeTags", 3),
    crf_case("CrfLogLikelihoodOfNoTags", 1),
});

struct RandomCrf {
  Tensor emissions;
  CrfWeights weights;
  Packing packing;

  RandomCrf(const Packing& lengths, size_t tags, float range = 2) : packing(lengths) {
    Rng rng(5);
    const auto draw = [&](const Shape& shape) {
      const Tensor x = Tensor::empty(shape);
      fill_uniform(x.span(), rng.stream(), -range, range);
      return x;
    };
    emissions = draw({packing.rows(), tags});
    weights = {draw({tags, tags}), draw({tags}), draw({tags})};
  }
};

TEST(Crf, PathsAndMarginalsAreThoseOfAllTagSequences) {
  RandomCrf crf(Packing::of({1, 4, 0, 6, 2}), 3);
  crf.weights.transitions.data()[5] = -kInf;
  const Plain emissions(crf.emissions), transitions(crf.weights.transitions),
      start(crf.weights.start), end(crf.weights.end);
  const EnumeratedCrf all{emissions, transitions, start, end};
  const CrfPaths paths = crf_best_paths(crf.emissions, crf.packing, crf.weights);
  const std::vector<float> marginals =
      crf_marginals(crf.emissions, crf.packing, crf.weights).to_vector();
  for (size_t s = 0; s < crf.packing.count(); ++s) {
    const size_t length = crf.packing.length(s), begin = crf.packing.begin(s);
    double best = -kInf, sum = 0;
    std::vector<size_t> best_path;
    Plain expected(Shape{length, 3});
    for (size_t n = 0; n < all.sequences(length); ++n) {
      const auto path = all.path(n, length);
      const double score = all.score(path, begin);
      sum += std::exp(score);
      for (size_t t = 0; t < length; ++t) expected(t, path[t]) += std::exp(score);
      if (score <= best) continue;
      best = score;
      best_path = path;
    }
    EXPECT_NEAR(paths.scores[s], best, 1e-9) << s;
    for (size_t t = 0; t < length; ++t) {
      EXPECT_EQ(paths.tags[begin + t], static_cast<int32_t>(best_path[t])) << s << " at " << t;
      for (size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(marginals[(begin + t) * 3 + j], expected(t, j) / sum, 1e-6) << s;
      }
    }
  }
}

// Weights so far apart that a power of one of them is 0 or infinite in double.
TEST(Crf, KeepsItsDigitsWhereWeightsAreExtreme) {
  for (const float large : {500.0f, 5000.0f, 1e6f}) {
    SCOPED_TRACE(large);
    RandomCrf crf(Packing::of({3}), 2);
    crf.weights.transitions = Tensor::of({0, -large, -large, -2 * large}, {2, 2}).require_grad();
    crf.emissions = Tensor::of({0, large, 0, large, 0, 2 * large}, {3, 2}).require_grad();
    const CrfWeights weights = {crf.weights.transitions, Tensor::zeros({2}), Tensor::zeros({2})};
    // 000: 0, 001: large, 010: -large, 011: 0, 100: 0, 101: large, 110: -large, 111: 0.
    const Tensor gold = Tensor::ids({1, 0, 1});
    const Tensor y = crf_log_likelihood(crf.emissions, crf.packing, gold, weights);
    EXPECT_NEAR(y.item(), -std::log(2.0), 1e-6);
    backward(y);
    EXPECT_NEAR(crf.emissions.grad().to_vector()[1], 0.5, 1e-6);
    EXPECT_NEAR(crf.weights.transitions.grad().to_vector()[0], -0.5, 1e-6);
    EXPECT_NEAR(crf.weights.transitions.grad().to_vector()[2], 0.5, 1e-6);
    EXPECT_EQ(crf_best_paths(crf.emissions, crf.packing, weights).tags,
              (std::vector<int32_t>{0, 0, 1}));
  }
}

TEST(Crf, OfASequenceDoesNotDependOnItsBatch) {
  const RandomCrf crf(Packing::of({3, 0, 7, 1, 40, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 5}), 6);
  const Tensor gold = crf_gold(crf.packing.rows(), 6, 4);
  const Tensor together = crf_log_likelihood(crf.emissions, crf.packing, gold, crf.weights);
  const CrfPaths paths = crf_best_paths(crf.emissions, crf.packing, crf.weights);
  for (size_t s = 0; s < crf.packing.count(); ++s) {
    const size_t begin = crf.packing.begin(s), length = crf.packing.length(s);
    const Packing alone = Packing::of({static_cast<int32_t>(length)});
    const Tensor rows = crf.emissions.slice_rows(begin, length);
    const Tensor tags = Tensor::ids(gold.index_span().subspan(begin, length), {length});
    EXPECT_EQ(crf_log_likelihood(rows, alone, tags, crf.weights).item(), together.data()[s]) << s;
    const CrfPaths path = crf_best_paths(rows, alone, crf.weights);
    EXPECT_EQ(path.scores[0], paths.scores[s]) << s;
    EXPECT_TRUE(std::equal(path.tags.begin(), path.tags.end(),
                           paths.tags.begin() + static_cast<ptrdiff_t>(begin)))
        << s;
  }
}

TEST(Crf, OfEmptySequencesIsCertain) {
  const RandomCrf crf(Packing::of({0, 0}), 3);
  const Tensor y = crf_log_likelihood(crf.emissions, crf.packing, crf_gold(0, 3, 5), crf.weights);
  EXPECT_EQ(y.to_vector(), (std::vector<float>{0, 0}));
  EXPECT_EQ(crf_best_paths(crf.emissions, crf.packing, crf.weights).scores,
            (std::vector<double>{0, 0}));
  EXPECT_EQ(crf_marginals(crf.emissions, crf.packing, crf.weights).size(), 0u);
}

TEST(Crf, RefusesWhatDoesNotFit) {
  const RandomCrf crf(Packing::of({2, 1}), 3);
  const auto likelihood = [&](const Tensor& gold) {
    return crf_log_likelihood(crf.emissions, crf.packing, gold, crf.weights);
  };
  expect_error<DataError>(
      [&] {
        likelihood(Tensor::ids({0, 3, 1}));
      },
      "tag 3 of row 1 is not one of 3 tags");
  EXPECT_THROW(likelihood(Tensor::ids({0, 1})), ShapeError);
  EXPECT_THROW(crf_marginals(crf.emissions, Packing::of({2}), crf.weights), ShapeError);
  EXPECT_THROW(crf_best_paths(crf.emissions.slice_columns(0, 2), crf.packing, crf.weights),
               ShapeError);
  crf.weights.transitions.data()[1] = -kInf;
  expect_error<DataError>([&] { likelihood(Tensor::ids({0, 1, 1})); }, "sequence 0 are impossible");
}

}  // namespace
}  // namespace attend
