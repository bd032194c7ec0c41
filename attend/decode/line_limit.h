// How long a line a model can read or write: a model that has learned where tokens stand knows no
// place past the last of them, and time grows with the square of the length.
#pragma once

#include <optional>
#include <string_view>

#include "attend/models/model.h"

namespace attend {

// What commands let through unless they are told otherwise.
inline constexpr size_t kMostLineTokens = 4096;

// The places that a model has learned, the same for what it reads and writes; none where it knows
// any place.
std::optional<size_t> learned_positions(const ModelConfig& config);

// Tokens of a line, its start and end not counted.
struct LineLimit {
  size_t tokens = 0;       // 0: any number
  bool by_places = false;  // it is the model that takes no more

  bool allows(size_t count) const { return tokens == 0 || count <= tokens; }
  // DataError that says what to do; `place` is where the line is, "a.txt:3".
  [[noreturn]] void fail(std::string_view place, size_t count) const;
};

// At most `most`, 0 being any number, and no more than the model takes.
LineLimit line_limit(const ModelConfig& config, size_t most);

}  // namespace attend
