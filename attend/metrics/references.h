// The references of a line, and the signatures of BLEU and chrF, in sacreBLEU's form.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attend {

// The references of one line: at least one.
using References = std::span<const std::string_view>;

// How many references the lines of a corpus have, which can be summed over lines.
struct ReferenceCount {
  static constexpr size_t kVaries = -1;
  size_t per_line = 0;  // 0 before the first line

  // Adds the count of another line; kVaries if they differ.
  ReferenceCount& operator+=(ReferenceCount other);
};

// Throws DataError, which names the metric, if there are none.
ReferenceCount count_references(References references, std::string_view metric);

// The signature; `settings` is the part between the references and the version.
std::string signature(ReferenceCount references, std::string_view settings);

}  // namespace attend
