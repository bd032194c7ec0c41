// Which lines of text go through a model together: those of like lengths, longest first.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

// The numbers of the lines of each batch. A batch has at most `most` tokens, or one line.
std::vector<std::vector<size_t>> batches_by_length(std::span<const size_t> lengths, size_t most);

// Given pairs of lines, for a model that is forced to write the second: encoded.
struct TextPairs {
  std::vector<std::vector<int32_t>> read, written;  // ids, without start and end

  // A model that reads nothing else, such as a language model, takes no lines to read. Throws
  // DataError, which names `who` asks, unless there is otherwise one to write for each to read;
  // ConfigError where the model writes nothing.
  TextPairs(std::string_view who, const TextModel& model, std::span<const std::string> lines_read,
            std::span<const std::string> lines_written);

  size_t size() const { return written.size(); }

  // The numbers of the pairs that go together, what the model reads, and what it writes without
  // start and end. They have at most `batch_tokens` of both, or are one pair.
  using Body = std::function<void(std::span<const size_t> numbers, const Batch& inputs,
                                  const Tokens& written)>;
  void in_batches(const TextModel& model, size_t batch_tokens, const Body& body) const;
};

}  // namespace attend
