// What a model sees at once: some records of a corpus, column by column, packed without padding.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/data/tokens.h"

namespace attend {

enum class ColumnKind {
  kTokens,  // ids of a sequence
  kLabel,   // one id
};
std::string_view name_of(ColumnKind kind);

// One column of all records: int32 ids or labels, or fp32 values, a row for each item; record i has
// the rows packing.begin(i) to packing.end(i).
struct Column {
  Tensor values;  // [rows], or [rows, ...]
  Packing packing;
};

class Batch {
 public:
  Batch() = default;
  explicit Batch(size_t records) : records_(records) {}
  // The batch of one column of tokens.
  Batch(std::string name, const Tokens& tokens);

  size_t size() const { return records_; }
  size_t rows() const;  // of all columns

  // Throws DataError where the column has another number of records, or is there already.
  Batch& add(std::string name, Column column);
  Batch& add(std::string name, const Tokens& tokens);

  bool has(std::string_view name) const;
  // Throw DataError that lists the columns there are.
  const Column& operator[](std::string_view name) const;
  Tokens tokens(std::string_view name) const;

  // The records of these numbers, in that order.
  Batch pick(std::span<const size_t> which) const;

  std::vector<size_t> lines = {};  // of the text that each record comes from, from 1; may be empty

 private:
  size_t records_ = 0;
  std::vector<std::pair<std::string, Column>> columns_;
};

}  // namespace attend
