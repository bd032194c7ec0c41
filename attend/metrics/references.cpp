#include "attend/metrics/references.h"

#include "attend/base/error.h"
#include "attend/base/version.h"

namespace attend {

ReferenceCount& ReferenceCount::operator+=(ReferenceCount other) {
  if (per_line == 0) per_line = other.per_line;
  if (other.per_line != 0 && other.per_line != per_line) per_line = kVaries;
  return *this;
}

ReferenceCount count_references(References references, std::string_view metric) {
  if (references.empty()) throw DataError("{}: a line has no reference", metric);
  return {references.size()};
}

std::string signature(ReferenceCount references, std::string_view settings) {
  const std::string count =
      references.per_line == ReferenceCount::kVaries ? "var" : fmt::to_string(references.per_line);
  return fmt::format("nrefs:{}|{}|version:attend-{}", count, settings, library_version());
}

}  // namespace attend
