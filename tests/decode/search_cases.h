// What several tests of searching start from.
#pragma once

#include <gtest/gtest.h>

#include "attend/decode/search.h"

namespace attend {

constexpr SpecialTokens kSpecial;

inline Batch three_records() {
  return {"source", Tokens(std::vector<int32_t>{3, 4, 5, 3, 4}, Packing::of({2, 1, 2}))};
}

inline Batch record_number(const Batch& all, size_t i) {
  const std::vector<size_t> which = {i};
  return all.pick(which);
}

// Down to the last bit.
inline void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tokens, b[i].tokens) << i;
    EXPECT_EQ(a[i].log_probabilities, b[i].log_probabilities) << i;
    EXPECT_EQ(a[i].log_probability, b[i].log_probability) << i;
    EXPECT_EQ(a[i].score, b[i].score) << i;
    EXPECT_EQ(a[i].ended, b[i].ended) << i;
  }
}

// Sees nothing; but while there is one, a search goes token by token.
struct Bystander : SearchObserver {
  void on_step(std::span<const Live> /*live*/, std::span<const Candidate> /*candidates*/,
               const std::vector<bool>& /*kept*/) override {
    ++steps;
  }
  size_t steps = 0;
};

}  // namespace attend
