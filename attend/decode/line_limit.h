// How long a line may be: learned positions are limited, and time grows with the square of the
// length.
#pragma once

#include <string_view>

#include "attend/models/model.h"

namespace attend {

// The default limit of the commands, in tokens.
inline constexpr size_t kMostLineTokens = 4096;

// The most tokens of a line, without start and end.
struct LineLimit {
  size_t tokens = 0;          // 0: any number
  bool by_positions = false;  // whether the limit is that of the model's positions

  // Whether a line may have this many tokens.
  bool allows(size_t count) const { return tokens == 0 || count <= tokens; }
  // Throws DataError with the remedy; `place` says where the line is: "a.txt:3".
  [[noreturn]] void fail(std::string_view place, size_t count) const;
};

// The limit of a column: `most` tokens, where 0 is any number, but no more than it has positions.
LineLimit line_limit(const ColumnSpec& column, size_t most);

// The limit that allows less.
LineLimit stricter(const LineLimit& a, const LineLimit& b);

}  // namespace attend
