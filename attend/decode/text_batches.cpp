#include "attend/decode/text_batches.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "attend/base/error.h"

namespace attend {

std::vector<std::vector<size_t>> batches_by_length(std::span<const size_t> lengths, size_t most) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return lengths[i]; });
  std::vector<std::vector<size_t>> batches;
  size_t tokens = 0;
  for (const size_t i : order) {
    if (batches.empty() || tokens + lengths[i] > most) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(i);
    tokens += lengths[i];
  }
  return batches;
}

TextPairs::TextPairs(std::string_view who, const TextModel& model,
                     std::span<const std::string> lines_read,
                     std::span<const std::string> lines_written) {
  const ColumnSpec column = model.written();
  const std::optional<ColumnSpec> other = model.read();
  if (!other && !lines_read.empty()) {
    throw DataError("{}: {} lines to read, but the model reads nothing besides its own {}", who,
                    lines_read.size(), column.name);
  }
  if (other && lines_read.size() != lines_written.size()) {
    throw DataError("{}: {} {}s but {} {}s", who, lines_read.size(), other->name,
                    lines_written.size(), column.name);
  }
  for (const std::string& line : lines_read) {
    read.push_back(model.tokenizer(other->name).encode(line));
  }
  for (const std::string& line : lines_written) {
    written.push_back(model.tokenizer(column.name).encode(line));
  }
  read.resize(written.size());
}

void TextPairs::in_batches(const TextModel& model, size_t batch_tokens, const Body& body) const {
  const std::optional<ColumnSpec> other = model.read();
  const size_t frame = 1 + (other ? other->framing.extra() : 0);
  std::vector<size_t> lengths(size());
  for (size_t i = 0; i < size(); ++i) lengths[i] = read[i].size() + written[i].size() + frame;
  for (const std::vector<size_t>& batch : batches_by_length(lengths, batch_tokens)) {
    std::vector<std::vector<int32_t>> some;
    TokenLines lines;
    for (const size_t i : batch) {
      some.push_back(read[i]);
      lines.add(written[i]);
    }
    body(batch, model.inputs(some), lines.tokens());
  }
}

}  // namespace attend
