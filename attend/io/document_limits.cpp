#include "attend/io/document_limits.h"

#include "attend/base/error.h"

namespace attend {

DocumentBudget::DocumentBudget(const DocumentLimits& limits, std::string_view what,
                               std::string_view origin, size_t bytes)
    : limits_(limits), what_(what), origin_(origin) {
  if (bytes > limits_.bytes) {
    throw FormatError("{}: {} bytes of {} are too many; at most {}", origin_, bytes, what_,
                      limits_.bytes);
  }
}

void DocumentBudget::take(size_t values, size_t bytes) {
  values_ += values;
  bytes_ += bytes;
  if (values_ > limits_.values) {
    throw FormatError("{}: too many values; at most {} are read from {}", origin_, limits_.values,
                      what_);
  }
  if (bytes_ > limits_.bytes) {
    throw FormatError("{}: its aliases stand for too much text; at most {} bytes", origin_,
                      limits_.bytes);
  }
}

void DocumentBudget::check_depth(size_t depth) const {
  if (depth > limits_.depth) {
    throw FormatError("{}: {} nested too deeply; at most {} levels", origin_, what_, limits_.depth);
  }
}

}  // namespace attend
