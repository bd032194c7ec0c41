#include "attend/base/pattern.h"

namespace attend {

bool matches_pattern(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) {
    return name == pattern || (name.starts_with(pattern) && name[pattern.size()] == '.');
  }
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (size_t skipped = 0; skipped <= name.size(); ++skipped) {
    const std::string_view rest = name.substr(skipped);
    if (pattern.empty() || matches_pattern(rest, pattern)) return true;
  }
  return false;
}

}  // namespace attend
