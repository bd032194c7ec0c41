// The references of a line, and what the signatures of BLEU and chrF share. sacreBLEU's form:
// nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attend-0.1.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attend {

// The references of one line: at least one.
using References = std::span<const std::string_view>;

// How many references the lines of a corpus have; it sums over lines.
struct ReferenceCount {
  static constexpr size_t kVaries = -1;
  size_t per_line = 0;  // 0 before the first line

  ReferenceCount& operator+=(ReferenceCount other);
};

// DataError when there are none; `metric` is who asks.
ReferenceCount count_references(References references, std::string_view metric);

// `settings` is what stands between the references and the version.
std::string signature(ReferenceCount references, std::string_view settings);

}  // namespace attend
