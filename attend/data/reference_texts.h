// What a source may become: one text, or several that are equally right.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace attend {

struct ReferenceTexts {
  std::vector<std::string> sources;
  std::vector<std::vector<std::string>> targets;  // of each source, at least one
};

// Line by line; or with `grouped`, pairs in a row that have one source become one with several
// targets, as a dictionary lists the pronunciations of a word. Both spans have one length.
ReferenceTexts reference_texts(std::span<const std::string> sources,
                               std::span<const std::string> targets, bool grouped);

}  // namespace attend
