// What a model reads at once: some records, column by column, packed without padding.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/data/tokens.h"

namespace attend {

// What a column holds for each record.
enum class ColumnKind {
  kTokens,  // ids of a sequence
  kLabel,   // one id
  kLabels,  // ids that are not read as a sequence, such as a label for each word
  kNumber,  // one float32
};
std::string_view name_of(ColumnKind kind);

// One column of all records: int32 ids or labels, or float32 values, a row for each item. Record i
// has the rows [packing.begin(i), packing.end(i)).
struct Column {
  Tensor values;  // [rows], or [rows, ...]
  Packing packing;
};

// Named columns of some records. Copies share the values.
class Batch {
 public:
  Batch() = default;
  explicit Batch(size_t records) : records_(records) {}
  // A batch of one column of tokens.
  Batch(std::string name, const Tokens& tokens);

  size_t size() const { return records_; }  // records
  size_t rows() const;                      // of all columns

  // Adds a column. Throws DataError if it has another number of records, or exists already.
  Batch& add(std::string name, Column column);
  Batch& add(std::string name, const Tokens& tokens);

  bool has(std::string_view name) const;  // whether there is such a column
  // The column of that name. Throws DataError that lists the columns if there is none.
  const Column& operator[](std::string_view name) const;
  Tokens tokens(std::string_view name) const;

  // The records with these numbers, in that order.
  Batch pick(std::span<const size_t> which) const;

  // The line of the text that each record comes from, from 1; may be empty.
  std::vector<size_t> lines = {};

 private:
  size_t records_ = 0;
  std::vector<std::pair<std::string, Column>> columns_;
};

}  // namespace attend
