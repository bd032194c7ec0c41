// Packed sequences of ids, and their start and end tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/special_tokens.h"
#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// The ids of a batch of sequences. Copies share them.
struct Tokens {
  Tensor ids;  // int32 [rows]
  Packing packing;

  Tokens() = default;
  Tokens(Tensor rows, Packing lengths) : ids(std::move(rows)), packing(std::move(lengths)) {}
  Tokens(std::span<const int32_t> values, Packing lengths)
      : ids(Tensor::ids(values, {values.size()})), packing(std::move(lengths)) {}

  size_t count() const { return packing.count(); }  // sequences
  // The ids of sequence i.
  std::span<const int32_t> sequence(size_t i) const {
    return ids.index_span().subspan(packing.begin(i), packing.length(i));
  }
};

// A batch of one sequence.
Tokens one_sequence(std::span<const int32_t> ids);
// The sequences with these numbers, in that order.
Tokens pick_sequences(const Tokens& tokens, std::span<const size_t> which);

// Collects sequences one by one.
class TokenLines {
 public:
  // Appends a sequence; how many there are; and all of them, packed.
  void add(std::span<const int32_t> line) {
    ids_.insert(ids_.end(), line.begin(), line.end());
    lengths_.push_back(static_cast<int32_t>(line.size()));
  }
  size_t size() const { return lengths_.size(); }  // sequences
  // All of them, packed.
  Tokens tokens() const { return {ids_, Packing(lengths_)}; }

 private:
  std::vector<int32_t> ids_, lengths_;
};

// Whether a sequence that a model reads has a start token before it and an end token after it.
struct Framing {
  bool start = false, end = false;

  size_t extra() const { return (start ? 1 : 0) + (end ? 1 : 0); }  // tokens
  bool operator==(const Framing&) const = default;
};

// The ids with the start and end that `framing` asks for.
std::vector<int32_t> framed(std::span<const int32_t> ids, Framing framing,
                            const SpecialTokens& special);
Tokens framed(const Tokens& tokens, Framing framing, const SpecialTokens& special);

// What a model reads under teacher forcing, a start and the sequence, and what it should predict at
// each row, the sequence and an end.
struct TeacherRows {
  Tokens inputs;
  Tensor labels;  // int32 [rows of inputs]
};
TeacherRows teacher_rows(const Tokens& written, const SpecialTokens& special);

}  // namespace attend
