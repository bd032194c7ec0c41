#include "attend/decode/text_pairs.h"

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"
#include "attend/decode/by_length.h"

namespace attend {

TextPairs::TextPairs(std::string_view who, const TextModel& model,
                     std::span<const std::string> source_lines,
                     std::span<const std::string> target_lines) {
  if (source_lines.size() != target_lines.size()) {
    throw DataError("{}: {} sources but {} targets", who, source_lines.size(), target_lines.size());
  }
  for (const std::string& line : source_lines) sources.push_back(model.source->encode(line));
  for (const std::string& line : target_lines) targets.push_back(model.target->encode(line));
}

void TextPairs::in_batches(size_t batch_tokens, const Body& body) const {
  std::vector<size_t> lengths(size());
  for (size_t i = 0; i < size(); ++i) lengths[i] = sources[i].size() + targets[i].size() + 2;
  for (const std::vector<size_t>& batch : batches_by_length(lengths, batch_tokens)) {
    TokenLines some_sources, some_targets;
    for (const size_t i : batch) {
      std::vector<int32_t> ended = sources[i];
      ended.push_back(kEnd);
      some_sources.add(ended);
      some_targets.add(targets[i]);
    }
    body(batch, some_sources.tokens(), some_targets.tokens());
  }
}

}  // namespace attend
