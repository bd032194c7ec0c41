#include "attend/decode/stop_text.h"

#include <algorithm>
#include <utility>

namespace attend {
namespace {

// How many bytes at the end of a text are the beginning of a string, but not all of it.
size_t begun_bytes(std::string_view text, std::string_view stop) {
  for (size_t count = std::min(text.size(), stop.size() - 1); count > 0; --count) {
    if (text.ends_with(stop.substr(0, count))) return count;
  }
  return 0;
}

}  // namespace

std::string StopText::add(std::string_view piece) {
  if (found_) return {};
  held_ += piece;
  size_t end = held_.npos, begun = 0;
  for (const std::string& stop : stops_) {
    end = std::min(end, held_.find(stop));
    begun = std::max(begun, begun_bytes(held_, stop));
  }
  found_ = end != held_.npos;
  const size_t certain = found_ ? end : held_.size() - begun;
  std::string text = held_.substr(0, certain);
  held_.erase(0, found_ ? held_.npos : certain);
  return text;
}

std::string StopText::finish() { return std::exchange(held_, {}); }

}  // namespace attend
