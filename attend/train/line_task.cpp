#include "attend/train/line_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/data/joined_records.h"

namespace attend {

namespace {

bool has_records(RecordReader& reader, bool all, const std::vector<TextColumn>& text,
                 std::string_view second_flag) {
  const bool in_one_file = text.size() > 1 && text.front().file == text.back().file;
  try {
    while (reader.next() && all) {
    }
  } catch (const DataError& error) {
    if (!in_one_file) throw;
    throw DataError("{}; if each {} is in a file of its own, give {}", error.what(),
                    text.back().name, second_flag);
  }
  return reader.counts().records > 0;
}

[[noreturn]] void fail_no_text(const DataConfig& data, Split split,
                               const std::vector<TextColumn>& text) {
  check_held_out_left(data, split, text.front().file);
  const bool in_one_file = text.size() > 1 && text.front().file == text.back().file;
  throw DataError("train: no text in {}{}", text.front().file.string(),
                  in_one_file ? "" : " and " + text.back().file.string());
}

}  // namespace

void LineTask::check_text(const RunConfig& config, Split split, bool all) const {
  const TextCorpora corpora = texts(config.data, split);
  // Of a small corpus among others, nothing may be held out.
  const bool held_out = part_of(config.data, split).part == TextPart::kHeldOut;
  bool any = false;
  for (const std::vector<TextColumn>& text : corpora) {
    RecordReader reader(text, kLongestLine, part_of(config.data, split));
    const bool found = has_records(reader, all, text, second_flag());
    if (!found && !held_out) fail_no_text(config.data, split, text);
    any |= found;
  }
  if (!any) fail_no_text(config.data, split, corpora.front());
}

bool LineTask::same_text(const DataConfig& a, const DataConfig& b) const {
  return texts(a, Split::kTraining) == texts(b, Split::kTraining) && a.held_out == b.held_out;
}

TextProfile LineTask::profile(const RunConfig& config) const {
  const TextCorpora corpora = texts(config.data, Split::kTraining);
  std::vector<std::string> names;
  for (const TextColumn& column : corpora.front()) names.push_back(column.name);
  TextProfiler profiler(std::move(names));
  CorporaReader reader(corpora);
  std::vector<std::string_view> record(corpora.front().size());
  double weights = 0;
  while (reader.next()) {
    for (size_t i = 0; i < record.size(); ++i) record[i] = reader.text(i);
    profiler.add(record);
    weights += weight_of_corpus(config.data, reader.corpus());
  }
  TextProfile made = profiler.profile();
  made.set_records_of_epoch(weights);
  return made;
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
  std::vector<std::unique_ptr<RecordSource>> corpora;
  for (const std::vector<TextColumn>& text : texts(config.data, split)) {
    corpora.push_back(records_of(text, config, signature, tokenizers, split));
  }
  return std::make_unique<JoinedRecords>(std::move(corpora));
}

std::unique_ptr<RecordSource> LineTask::records_of(const std::vector<TextColumn>& text,
                                                   const RunConfig& config,
                                                   const Signature& signature,
                                                   const Tokenizers& tokenizers,
                                                   Split split) const {
  std::vector<LineColumn> lines;
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
                                                  const TextCorpora& corpora, HeldOut held_out,
                                                  const std::vector<size_t>& which) {
  CorporaReader reader(corpora, kLongestLine, held_out);
  size_t next = which.size();
  return train_tokenizer(config, [&]() -> std::optional<std::string_view> {
    if (next == which.size()) {
      if (!reader.next()) return std::nullopt;
      next = 0;
    }
    return reader.text(which[next++]);
  });
}

TextCorpora corpora_of(std::initializer_list<ColumnFiles> columns) {
  check_corpora(columns);
  const TextFiles& first = columns.begin()->files;
  const bool both = columns.size() == 2 && std::rbegin(columns)->files.empty();
  for (const ColumnFiles& column : columns) {
    if (both || !column.files.empty()) continue;
    throw ConfigError("train: data.{} has no file", column.setting);
  }
  TextCorpora corpora;
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<TextColumn>& corpus = corpora.emplace_back();
    for (const ColumnFiles& column : columns) {
      const size_t place = both ? corpus.size() + 1 : 0;
      corpus.push_back({std::string(column.column), both ? first[i] : column.files[i], place});
    }
  }
  return corpora;
}

void check_corpora(std::initializer_list<ColumnFiles> columns) {
  const ColumnFiles& first = *columns.begin();
  for (const ColumnFiles& column : columns) {
    if (column.files.empty() || column.files.size() == first.files.size()) continue;
    throw ConfigError(
        "train: data.{} has {} but data.{} has {}; give one for each, in the same order",
        first.setting, counted(first.files.size(), "file"), column.setting,
        counted(column.files.size(), "file"));
  }
}

}  // namespace attend
