#include "attend/decode/line_limit.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend {

LineLimit line_limit(const ColumnSpec& column, size_t most) {
  const std::optional<size_t> longest = column.longest();
  if (!longest) return {most};
  const size_t fit = std::max<size_t>(*longest, 1);  // 0 would allow any number
  return most > 0 && most <= fit ? LineLimit{most} : LineLimit{fit, true};
}

LineLimit stricter(const LineLimit& a, const LineLimit& b) {
  return a.tokens == 0 || (b.tokens > 0 && b.tokens < a.tokens) ? b : a;
}

void LineLimit::fail(std::string_view place, size_t count) const {
  throw DataError("{}: the line has {} tokens, but {}; break it into sentences{}", place, count,
                  by_positions ? fmt::format("the model has learned positions for {}", tokens)
                               : fmt::format("at most {} are allowed", tokens),
                  by_positions ? "" : ", or raise the limit (longest_line)");
}

}  // namespace attend
