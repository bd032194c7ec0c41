// Perplexity: the number of equally likely tokens that a model chooses between, on average.
#pragma once

#include <cmath>
#include <cstdint>

namespace attend {

// Sums over tokens, which can be added up.
struct LikelihoodStats {
  double log_likelihood = 0;  // natural logarithm, summed over the tokens
  uint64_t tokens = 0;

  // Adds those of other tokens.
  LikelihoodStats& operator+=(const LikelihoodStats& other) {
    log_likelihood += other.log_likelihood;
    tokens += other.tokens;
    return *this;
  }
};

// The cross-entropy; 0 without tokens.
inline double nats_per_token(const LikelihoodStats& stats) {
  return stats.tokens == 0 ? 0 : -stats.log_likelihood / static_cast<double>(stats.tokens);
}

// e to the cross-entropy.
inline double perplexity(const LikelihoodStats& stats) { return std::exp(nats_per_token(stats)); }

}  // namespace attend
