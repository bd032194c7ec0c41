#include "attend/train/line_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/base/error.h"

namespace attend {

void LineTask::check_text(const RunConfig& config, Split split, bool all) const {
  const std::vector<TextColumn> text = texts(config.data, split);
  RecordReader reader(text, kLongestLine, part_of(config.data, split));
  const bool in_one_file = text.size() > 1 && text.front().file == text.back().file;
  try {
    while (reader.next() && all) {
    }
  } catch (const DataError& error) {
    if (!in_one_file) throw;
    throw DataError("{}; if each {} is in a file of its own, give {}", error.what(),
                    text.back().name, second_flag());
  }
  if (reader.counts().records > 0) return;
  check_held_out_left(config.data, split, text.front().file);
  throw DataError("train: no text in {}{}", text.front().file.string(),
                  in_one_file ? "" : " and " + text.back().file.string());
}

bool LineTask::same_text(const DataConfig& a, const DataConfig& b) const {
  return texts(a, Split::kTraining) == texts(b, Split::kTraining) && a.held_out == b.held_out;
}

TextProfile LineTask::profile(const RunConfig& config) const {
  const std::vector<TextColumn> text = texts(config.data, Split::kTraining);
  std::vector<std::string> names;
  for (const TextColumn& column : text) names.push_back(column.name);
  TextProfiler profiler(std::move(names));
  RecordReader reader(text);
  std::vector<std::string_view> record(text.size());
  while (reader.next()) {
    for (size_t i = 0; i < record.size(); ++i) record[i] = reader.text(i);
    profiler.add(record);
  }
  return profiler.profile();
}

HeldOut LineTask::part_of(const DataConfig& data, Split split) {
  if (data.held_out == 0) return {};
  return {data.held_out, split == Split::kTraining ? TextPart::kKept : TextPart::kHeldOut};
}

std::vector<std::string> LineTask::limits(const RunConfig& config,
                                          const Signature& signature) const {
  std::vector<std::string> found;
  const auto together = signature.longest_together();
  if (together && *together < config.data.longest * columns.size()) {
    found.push_back(
        fmt::format("at most {} tokens of {} together: the model reads them as one sequence, and "
                    "has no more positions",
                    *together, column_names()));
    return found;
  }
  for (const ColumnSpec& column : signature.columns) {
    const LineLimit limit = line_limit(column, config.data.longest);
    if (!limit.by_positions) continue;
    found.push_back(fmt::format("at most {} {} tokens, not {}: the model has no more positions",
                                limit.tokens, column.name, config.data.longest));
  }
  return found;
}

std::unique_ptr<RecordSource> LineTask::source(const RunConfig& config, const Signature& signature,
                                               const Tokenizers& tokenizers, Split split) const {
  std::vector<LineColumn> lines;
  const std::vector<TextColumn> text = texts(config.data, split);
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnSpec& column = signature.column(columns[i].name);
    const bool number = column.kind == ColumnKind::kNumber;
    lines.push_back({.text = text[i],
                     .encoder = number ? TextEncoder() : encoder_of(tokenizers.at(column.name)),
                     .kind = column.kind,
                     .longest = line_limit(column, config.data.longest).tokens,
                     .by_words = by_words && column.kind == ColumnKind::kTokens});
    lines.back().text.may_be_empty = columns[i].may_be_empty;
  }
  auto made = std::make_unique<LineRecords>(std::move(lines));
  made->longest_together = signature.longest_together();
  made->held_out = part_of(config.data, split);
  return made;
}

std::shared_ptr<const Tokenizer> train_on_columns(const TokenizerConfig& config,
                                                  const std::vector<TextColumn>& columns,
                                                  HeldOut held_out,
                                                  const std::vector<size_t>& which) {
  RecordReader reader(columns, kLongestLine, held_out);
  size_t next = which.size();
  return train_tokenizer(config, [&]() -> std::optional<std::string_view> {
    if (next == which.size()) {
      if (!reader.next()) return std::nullopt;
      next = 0;
    }
    return reader.text(which[next++]);
  });
}

}  // namespace attend
