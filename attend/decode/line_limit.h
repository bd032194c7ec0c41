// How long a line a model takes: learned positions come to an end, and time grows with the square
// of the length.
#pragma once

#include <string_view>

#include "attend/models/model.h"

namespace attend {

// What commands accept unless they are told otherwise.
inline constexpr size_t kMostLineTokens = 4096;

// Tokens of a line, its start and end not counted.
struct LineLimit {
  size_t tokens = 0;          // 0: any number
  bool by_positions = false;  // the limit is the model's own: it has no more positions

  bool allows(size_t count) const { return tokens == 0 || count <= tokens; }
  // Throws DataError that says what to do; `place` is where the line is, "a.txt:3".
  [[noreturn]] void fail(std::string_view place, size_t count) const;
};

// At most `most` tokens, where 0 is any number, and no more than the model has positions for in
// this column.
LineLimit line_limit(const ColumnSpec& column, size_t most);

// The one that allows less.
LineLimit stricter(const LineLimit& a, const LineLimit& b);

}  // namespace attend
