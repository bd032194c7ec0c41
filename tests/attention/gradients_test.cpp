// The attention op on either path against its plain twin in double: outputs, and the gradients of
// all that it takes against finite differences of the twin.
#include <gtest/gtest.h>

#include "tests/attention/against_twin.h"

namespace attend {
namespace {

const std::vector<Sizes>& small_sizes() {
  static const std::vector<Sizes> sizes{
      {{3, 2}, {4, 3}, 2, 2, 3, 2},        // as a decoder has them
      {{0, 2, 1}, {2, 0, 5}, 2, 1, 2, 3},  // sequences without queries, or without keys; grouped
      {{5}, {2}, 1, 1, 3, 1},              // more queries than keys
      {{1}, {1}, 1, 1, 1, 1},
      {{2, 1}, {3, 1}, 4, 2, 2, 1},
  };
  return sizes;
}

class AttentionGradients : public testing::TestWithParam<Weighting> {};

// One in so many points of the whole space, so that any two of its choices meet.
TEST_P(AttentionGradients, AreThoseOfTheTwinInDouble) {
  constexpr size_t kOneIn = 7;
  Count count;
  for (size_t s = 0; s < small_sizes().size(); ++s) {
    for (size_t a = 0; a < all_scores().size(); ++a) {
      for (size_t m = 0; m < masks().size(); ++m) {
        for (size_t t = 0; t < terms().size(); ++t) {
          const Sizes& sizes = small_sizes()[s];
          const Score score = all_scores()[a];
          const Feature &mask = masks()[m], &term = terms()[t];
          if ((s + a + m + t) % kOneIn != 0 || !possible(sizes, score)) continue;
          Point point = make_point(sizes, score, GetParam());
          if (!term.fits(point.call.options)) continue;
          mask.apply(point, sizes);
          term.apply(point, sizes);
          SCOPED_TRACE(fmt::format("sizes {}, score {}, mask {}, term {}", s, name_of(score),
                                   mask.name, term.name));
          expect_equals_twin(point, count);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_LT(100 * count.kinks, count.compared);
}

INSTANTIATE_TEST_SUITE_P(All, AttentionGradients, testing::ValuesIn(all_weightings()),
                         [](const auto& weighting) {
                           std::string name(name_of(weighting.param));
                           std::erase(name, '_');
                           return name;
                         });

}  // namespace
}  // namespace attend
