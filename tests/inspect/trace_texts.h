// The texts of a trace's items, to compare.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/inspect/trace.h"

namespace attend {

using Strings = std::vector<std::string>;

inline Strings texts(std::span<const TraceItem> items) {
  Strings all;
  for (const TraceItem& item : items) all.push_back(item.text);
  return all;
}

}  // namespace attend
