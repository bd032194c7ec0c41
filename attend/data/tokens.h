// Sequences of ids, packed one after the other; and the ids that frame them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/special_tokens.h"
#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// Ids of a batch of sequences.
struct Tokens {
  Tensor ids;  // int32 [rows]
  Packing packing;

  Tokens() = default;
  Tokens(Tensor rows, Packing lengths) : ids(std::move(rows)), packing(std::move(lengths)) {}
  Tokens(std::span<const int32_t> values, Packing lengths)
      : ids(Tensor::ids(values, {values.size()})), packing(std::move(lengths)) {}

  size_t count() const { return packing.count(); }  // sequences
  std::span<const int32_t> sequence(size_t i) const {
    return ids.index_span().subspan(packing.begin(i), packing.length(i));
  }
};

// One sequence alone.
Tokens one_sequence(std::span<const int32_t> ids);
// The sequences of these numbers, in that order.
Tokens pick_sequences(const Tokens& tokens, std::span<const size_t> which);

// Sequences gathered one by one.
class TokenLines {
 public:
  void add(std::span<const int32_t> line) {
    ids_.insert(ids_.end(), line.begin(), line.end());
    lengths_.push_back(static_cast<int32_t>(line.size()));
  }
  size_t size() const { return lengths_.size(); }
  Tokens tokens() const { return {ids_, Packing(lengths_)}; }

 private:
  std::vector<int32_t> ids_, lengths_;
};

// Whether a model wants a start before a sequence that it reads, and an end after it.
struct Framing {
  bool start = false, end = false;

  size_t extra() const { return (start ? 1 : 0) + (end ? 1 : 0); }  // tokens
  bool operator==(const Framing&) const = default;
};

std::vector<int32_t> framed(std::span<const int32_t> ids, Framing framing,
                            const SpecialTokens& special);
Tokens framed(const Tokens& tokens, Framing framing, const SpecialTokens& special);

// What teacher forcing shows a model that writes, and what it should answer to each row: a start
// and the sequence; the sequence and an end.
struct TeacherRows {
  Tokens inputs;
  Tensor labels;  // int32 [rows of inputs]
};
TeacherRows teacher_rows(const Tokens& written, const SpecialTokens& special);

}  // namespace attend
