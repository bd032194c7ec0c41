// Spans of a text that are taken out, and that a model writes from what is left (T5: Raffel et al.,
// 2020). A sentinel stands in the place of each, and before it in what is written:
//
//   text     the cat sat on the mat
//   source   the <extra_id_0> on the <extra_id_1>
//   target   <extra_id_0> cat sat <extra_id_1> mat        and an end
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/rng.h"
#include "attend/base/special_tokens.h"
#include "attend/models/model.h"
#include "attend/train/run_config.h"

namespace attend {

struct CorruptedText {
  std::vector<int32_t> source, target;  // without starts and ends
};

// Of a text of so many tokens: how many are in spans, and how many spans there are.
size_t tokens_in_spans(size_t tokens, const SpansConfig& config);
size_t spans_of(size_t tokens, const SpansConfig& config);

// Takes spans out of `ids`, in places that are a function of the stream and of their number. No two
// spans touch. The special ids must have as many sentinels as there are spans.
CorruptedText corrupted_text(std::span<const int32_t> ids, const SpecialTokens& special,
                             const SpansConfig& config, RandomStream random);

// The most tokens that a text has: longer ones are cut into pieces.
size_t longest_text(const RunConfig& config, const Signature& signature);

}  // namespace attend
