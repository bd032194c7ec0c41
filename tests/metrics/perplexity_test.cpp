#include "attend/metrics/perplexity.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(Perplexity, OfAUniformChoiceIsTheNumberOfChoices) {
  LikelihoodStats stats{.log_likelihood = 3 * std::log(1 / 8.0), .tokens = 3};
  stats += {.log_likelihood = 5 * std::log(1 / 8.0), .tokens = 5};
  EXPECT_DOUBLE_EQ(nats_per_token(stats), std::log(8.0));
  EXPECT_NEAR(perplexity(stats), 8, 1e-12);
}

TEST(Perplexity, OfNothingIsOne) { EXPECT_EQ(perplexity({}), 1); }

}  // namespace
}  // namespace attend
