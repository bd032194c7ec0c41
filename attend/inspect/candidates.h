// The tokens that a model finds most probable at one place, and what it makes of the one that
// stands there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attend/tensor/tensor.h"
#include "attend/text/tokenizer.h"

namespace attend {

// A token that a model finds probable.
struct CandidateToken {
  int32_t id = 0;
  std::string text;
  float probability = 0.0f;
};

// The candidates of one place.
struct Candidates {
  std::vector<CandidateToken> likeliest;  // most probable first
  float probability = 0.0f;               // of the token that stands there
  size_t rank = 1;                        // of that token: 1 is the most probable
};

// The most tokens of a place.
inline constexpr size_t kMostCandidates = 50;

// Throws ConfigError, which begins with `what`, where `top` is not 1 to kMostCandidates.
void check_candidates(const char* what, size_t top);

// Which tokens can be candidates.
enum class CandidateChoice {
  kAll,
  kText,  // no special tokens: probabilities are still those among all tokens
};

// The candidates of each row of logits, [rows, vocabulary]. `own` is the token that stands there,
// for each row.
std::vector<Candidates> candidates_of(const Tokenizer& tokenizer, const Tensor& logits,
                                      std::span<const int32_t> own, size_t top,
                                      CandidateChoice choice = CandidateChoice::kAll);

}  // namespace attend
