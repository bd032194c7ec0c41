// One text, or two that a model reads as one sequence: `<s> text </s> pair </s>` (Devlin et al.,
// 2019). They are the columns "text" and "pair" of a batch.
#pragma once

#include <optional>

#include "attend/models/model.h"

namespace attend {

inline constexpr const char* kTextColumn = "text";
inline constexpr const char* kPairColumn = "pair";

// What a model reads of the texts of a batch.
struct JoinedTexts {
  Tokens tokens;
  Tensor segments;  // int32 [rows]: 0 for the first text, 1 for the second; undefined for one text
};
JoinedTexts joined_texts(const Batch& inputs);

// The columns of one text or two, for a model with so many positions.
Signature text_signature(bool pair, bool start, std::optional<size_t> positions);
// The sequence that they form, by the name under which attention layers know it.
std::string text_sequence(bool pair);

// Of x [rows, width], the first row of each sequence, none of which is empty.
Tensor first_rows(const Tensor& x, const Packing& packing);

}  // namespace attend
