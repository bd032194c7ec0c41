#include "attend/data/reference_texts.h"

namespace attend {

ReferenceTexts reference_texts(std::span<const std::string> sources,
                               std::span<const std::string> targets, bool grouped) {
  ReferenceTexts found;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!grouped || i == 0 || sources[i] != sources[i - 1]) {
      found.sources.push_back(sources[i]);
      found.targets.emplace_back();
    }
    found.targets.back().push_back(targets[i]);
  }
  return found;
}

}  // namespace attend
