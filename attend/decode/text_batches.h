// Batches of lines: lines of similar length together, longest first.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

// The numbers of the lines in each batch. A batch has at most `most` tokens, or one line.
std::vector<std::vector<size_t>> batches_by_length(std::span<const size_t> lengths, size_t most);

// Encoded pairs of lines, for teacher forcing.
struct TextPairs {
  std::vector<std::vector<int32_t>> read, written;  // ids, without start and end

  // Encodes pairs; a language model has no lines to read. Throws DataError, which begins with
  // `who`, if there are not as many lines to read as to write, and ConfigError if the model writes
  // nothing.
  TextPairs(std::string_view who, const TextModel& model, std::span<const std::string> lines_read,
            std::span<const std::string> lines_written);

  size_t size() const { return written.size(); }  // pairs

  // Calls body for each batch, with the numbers of its pairs, what the model reads, and what it
  // writes without start and end. A batch has at most `batch_tokens` tokens of both, or is one
  // pair.
  using Body = std::function<void(std::span<const size_t> numbers, const Batch& inputs,
                                  const Tokens& written)>;
  void in_batches(const TextModel& model, size_t batch_tokens, const Body& body) const;
};

}  // namespace attend
