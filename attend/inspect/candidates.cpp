#include "attend/inspect/candidates.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/kernels/top_k.h"

namespace attend {
namespace {

// Special tokens among those that logits are of.
size_t special_count(const Tokenizer& tokenizer, size_t width) {
  size_t count = 0;
  for (size_t id = 0; id < width; ++id) {
    count += tokenizer.special().has(static_cast<int32_t>(id)) ? 1 : 0;
  }
  return count;
}

}  // namespace

void check_candidates(const char* what, size_t top) {
  if (top >= 1 && top <= kMostCandidates) return;
  throw ConfigError("{}: {} tokens of each place; use 1 to {}", what, top, kMostCandidates);
}

std::vector<Candidates> candidates_of(const Tokenizer& tokenizer, const Tensor& logits,
                                      std::span<const int32_t> own, size_t top,
                                      CandidateChoice choice) {
  const SpecialTokens special = tokenizer.special();
  const bool text_only = choice == CandidateChoice::kText;
  const auto left_out = [&](size_t id) {
    return text_only && special.has(static_cast<int32_t>(id));
  };
  const size_t width = logits.width();
  const size_t wanted = top + (text_only ? special_count(tokenizer, width) : 0);
  const size_t count = std::min(wanted, width);
  std::vector<int32_t> ids(logits.rows() * count);
  std::vector<float> log_probabilities(ids.size());
  kernels::top_k({logits.data(), logits.rows(), width, logits.stride()}, count, ids.data(),
                 log_probabilities.data());
  std::vector<Candidates> all(logits.rows());
  for (size_t row = 0; row < all.size(); ++row) {
    Candidates& found = all[row];
    const size_t begin = row * count;
    for (size_t i = begin; i < begin + count && ids[i] >= 0 && found.likeliest.size() < top; ++i) {
      if (left_out(static_cast<size_t>(ids[i]))) continue;
      found.likeliest.push_back({ids[i], tokenizer.piece(ids[i]), std::exp(log_probabilities[i])});
    }
    if (ids[begin] < 0) continue;  // nothing is a number
    const float* const of_row = logits.data() + row * logits.stride();
    const float first = of_row[ids[begin]], mine = of_row[own[row]];
    found.probability = std::exp(mine - first + log_probabilities[begin]);
    for (size_t id = 0; id < width; ++id) {
      found.rank += of_row[id] > mine && !left_out(id) ? 1 : 0;
    }
  }
  return all;
}

}  // namespace attend
