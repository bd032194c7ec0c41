// Which of the tokens that may follow are sampled. The temperature has divided their logits before;
// then, each on what the one before has left, come top-k, top-p, min-p and typical, the order of
// `transformers`. Not for use outside decode/.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/decode/search.h"

namespace attend {

// A token and its weight among the others, of which the logarithm is known.
struct TokenChoice {
  int32_t token;
  float log_mass;
  double mass;  // probability times what is the same for all
};

// At least one, in any order, which filters leave as it is. Among equals the first are kept.
using TokenChoices = std::vector<TokenChoice>;

// The k likeliest.
void keep_top_k(TokenChoices& choices, size_t k);

// The fewest likeliest that have this mass together (Holtzman et al., 2020, "nucleus").
void keep_top_p(TokenChoices& choices, double mass);

// Those with at least this share of the likeliest one's mass (Nguyen et al., 2024).
void keep_min_p(TokenChoices& choices, double share);

// The fewest that have this share of the mass together, of those whose information -log p is
// nearest to what is expected, the entropy (Meister et al., 2023).
void keep_typical(TokenChoices& choices, double share);

// All that a config has but top-k. `total` is the mass of all tokens that top-p has to choose from,
// where only those that it may choose are given.
void filter(TokenChoices& choices, const SearchConfig& config, double total);

double mass_of(const TokenChoices& choices);

}  // namespace attend
