// Given pairs of lines, as a model that is forced to write the second reads them: encoded, and
// batched by length.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

struct TextPairs {
  std::vector<std::vector<int32_t>> sources, targets;  // ids, without start and end

  // Throws DataError, naming `who` asks, unless there is a target for each source.
  TextPairs(std::string_view who, const TextModel& model, std::span<const std::string> source_lines,
            std::span<const std::string> target_lines);

  size_t size() const { return sources.size(); }

  // The numbers of the pairs that go together, their sources with their ends, and their targets.
  // They have at most `batch_tokens` of both sides, or are one pair.
  using Body = std::function<void(std::span<const size_t> numbers, const Tokens& sources,
                                  const Tokens& targets)>;
  void in_batches(size_t batch_tokens, const Body& body) const;
};

}  // namespace attend
