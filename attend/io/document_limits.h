// What a document may hold, whatever its file claims: bytes, values and depth, counted as it is
// read. Not for use outside Attend.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attend {

struct DocumentLimits {
  size_t bytes = size_t{1} << 20;
  size_t values = 8192;  // keys count as well, and so does what aliases stand for
  size_t depth = 64;
};

// Counts what is read of one document. Throws FormatError, which names `origin`, where it passes a
// limit.
class DocumentBudget {
 public:
  // `bytes` is how long the text is. `what` is its format, for messages.
  DocumentBudget(const DocumentLimits& limits, std::string_view what, std::string_view origin,
                 size_t bytes);

  void take(size_t values, size_t bytes = 0);
  void check_depth(size_t depth) const;

 private:
  DocumentLimits limits_;
  std::string what_, origin_;
  size_t values_ = 0, bytes_ = 0;
};

}  // namespace attend
