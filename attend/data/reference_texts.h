// Sources with their references: one, or several that are equally right.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace attend {

struct ReferenceTexts {
  std::vector<std::string> sources;
  std::vector<std::vector<std::string>> targets;  // of each source, at least one
};

// One target per source; or, if `grouped`, consecutive pairs with the same source become one source
// with several targets, like a word with several pronunciations. Both spans have the same length.
ReferenceTexts reference_texts(std::span<const std::string> sources,
                               std::span<const std::string> targets, bool grouped);

}  // namespace attend
