// Perplexity: how many equally likely tokens a model hesitates between.
#pragma once

#include <cmath>
#include <cstdint>

namespace attend {

struct LikelihoodStats {
  double log_likelihood = 0;  // natural logarithms, summed over the tokens
  uint64_t tokens = 0;

  LikelihoodStats& operator+=(const LikelihoodStats& other) {
    log_likelihood += other.log_likelihood;
    tokens += other.tokens;
    return *this;
  }
};

// The cross-entropy; 0 of no tokens.
inline double nats_per_token(const LikelihoodStats& stats) {
  return stats.tokens == 0 ? 0 : -stats.log_likelihood / static_cast<double>(stats.tokens);
}

inline double perplexity(const LikelihoodStats& stats) { return std::exp(nats_per_token(stats)); }

}  // namespace attend
