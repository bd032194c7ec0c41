#include "attend/data/line_records.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "attend/base/counted.h"
#include "attend/base/hash.h"
#include "attend/base/parallel.h"
#include "attend/base/printable.h"
#include "attend/data/corpus_file.h"
#include "attend/data/numbers.h"
#include "attend/data/words.h"

namespace attend {
namespace {

constexpr size_t kRecordsAtOnce =
    4096;  // lines read at a time, or so many that have this many bytes
constexpr size_t kRecordBytesAtOnce = size_t{16} << 20;
constexpr size_t kRecordsOfThread = 32;  // encoded by one thread

std::vector<TextColumn> texts_of(const std::vector<LineColumn>& columns) {
  std::vector<TextColumn> texts;
  for (const LineColumn& column : columns) texts.push_back(column.text);
  return texts;
}

class LineStream : public RecordStream {
 public:
  LineStream(const std::vector<LineColumn>& columns, HeldOut held_out, size_t longest_line,
             std::optional<size_t> longest_together)
      : columns_(columns),
        longest_together_(longest_together),
        reader_(texts_of(columns), longest_line, held_out) {
    for (const LineColumn& column : columns) {
      const bool number = column.kind == ColumnKind::kNumber;
      described_.push_back(
          number ? ColumnDescriptor::numbers(column.text.name)
                 : ColumnDescriptor::ids(column.text.name, column.kind, column.encoder.vocabulary));
    }
    for (const LineColumn& column : columns) {
      if (!column.by_words) continue;
      described_.push_back(ColumnDescriptor::ids(words_column(column.text.name),
                                                 ColumnKind::kLabels, column.longest));
    }
  }

  std::vector<CorpusRecord> next() override {
    std::vector<CorpusRecord> kept;
    while (kept.empty()) {
      std::vector<CorpusRecord> some = read_chunk();
      if (some.empty()) return {};
      for (CorpusRecord& record : some) {
        if (is_wanted(record)) kept.push_back(std::move(record));
      }
    }
    return kept;
  }

  CorpusCounts counts() const override {
    CorpusCounts counts = counts_;
    counts.read = reader_.counts();
    return counts;
  }
  std::vector<ColumnDescriptor> columns() const override { return described_; }

 private:
  std::vector<CorpusRecord> read_chunk() {
    std::vector<std::string> texts;  // of each record and column
    std::vector<CorpusRecord> records;
    size_t bytes = 0;
    while (records.size() < kRecordsAtOnce && bytes < kRecordBytesAtOnce && reader_.next()) {
      records.push_back({.values = {}, .line = reader_.line()});
      for (size_t c = 0; c < columns_.size(); ++c) {
        bytes += texts.emplace_back(reader_.text(c)).size();
      }
    }
    parallel_for(records.size(), kRecordsOfThread, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        encode(std::span(texts).subspan(i * columns_.size(), columns_.size()), records[i]);
      }
    });
    return records;
  }

  void encode(std::span<const std::string> texts, CorpusRecord& record) const {
    std::vector<std::vector<int32_t>> words;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const LineColumn& column = columns_[c];
      if (column.kind == ColumnKind::kNumber) {
        record.values.push_back({std::bit_cast<int32_t>(number_of(texts[c], record, c))});
      } else if (column.by_words) {
        WordTokens tokens =
            encode_words(column.encoder.encode, words_of(texts[c]), column.encoder.special.unknown);
        record.values.push_back(std::move(tokens.ids));
        words.push_back(std::move(tokens.last));
      } else {
        record.values.push_back(column.encoder.encode(texts[c]));
      }
    }
    for (std::vector<int32_t>& last : words) record.values.push_back(std::move(last));
  }

  float number_of(const std::string& text, const CorpusRecord& record, size_t column) const {
    if (const auto number = parsed_number(text)) return *number;
    throw DataError("{}: '{}' is not a number, which the {} must be",
                    reader_.place_of(column, record.line), shown_name(text),
                    columns_[column].text.name);
  }

  // Counts what it leaves out, and what it does not.
  bool is_wanted(const CorpusRecord& record) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (record.values[c].empty() && !columns_[c].text.may_be_empty) {
        ++counts_.empty;
        return false;
      }
    }
    size_t together = 0;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].kind == ColumnKind::kLabel) check_label(record, c);
      if (columns_[c].kind == ColumnKind::kLabels) check_labels(record, c);
      if (columns_[c].kind != ColumnKind::kTokens) continue;
      together += record.values[c].size();
      if (record.values[c].size() > columns_[c].longest) {
        ++counts_.too_long;
        return false;
      }
    }
    if (longest_together_ && together > *longest_together_) {
      ++counts_.too_long;
      return false;
    }
    for (size_t c = 0; c < columns_.size(); ++c) {
      described_[c].items += record.values[c].size();
      if (columns_[c].kind == ColumnKind::kNumber) continue;
      described_[c].unknown += count_unknown(record.values[c], columns_[c].encoder);
    }
    return true;
  }

  void check_label(const CorpusRecord& record, size_t column) const {
    if (record.values[column].size() == 1) return;
    throw DataError(
        "{}: a {} of {} tokens, but a label is one; with vocabulary.target_kind 'line' the "
        "whole "
        "line is one",
        reader_.place_of(column, record.line), columns_[column].text.name,
        record.values[column].size());
  }

  // As many as the words of the column that is read by words.
  void check_labels(const CorpusRecord& record, size_t column) const {
    if (record.values.size() == columns_.size()) return;
    const size_t words = record.values.back().size(), labels = record.values[column].size();
    if (words == labels) return;
    throw DataError(
        "{}: {} {}, but the text has {}; give one for each word, with spaces between them",
        reader_.place_of(column, record.line), labels, columns_[column].text.name,
        counted(words, "word"));
  }

  const std::vector<LineColumn>& columns_;
  std::optional<size_t> longest_together_;
  RecordReader reader_;
  std::vector<ColumnDescriptor> described_;
  CorpusCounts counts_;
};

}  // namespace

std::unique_ptr<RecordStream> LineRecords::open() const {
  return std::make_unique<LineStream>(columns_, held_out, longest_line_, longest_together);
}

uint64_t LineRecords::fingerprint() const {
  Hash hash;
  const auto add = [&hash](std::initializer_list<uint64_t> values) {
    hash.add(bytes_of(std::span<const uint64_t>(values.begin(), values.size())));
  };
  for (const LineColumn& column : columns_) {
    hash.add(column.text.name);
    add({fingerprint_of_file(column.text.file), column.text.place, column.text.may_be_empty,
         static_cast<uint64_t>(column.kind), column.encoder.vocabulary, column.encoder.fingerprint,
         column.longest, column.by_words});
  }
  add({longest_line_, kCorpusVersion});
  if (longest_together) add({*longest_together});
  if (held_out.part != TextPart::kAll) {
    hash.add(fmt::format("held out {} {}", held_out.share, static_cast<int>(held_out.part)));
  }
  return hash.value();
}

std::string LineRecords::explain_empty(const CorpusCounts& counts) const {
  std::vector<std::string> limits;
  for (const LineColumn& column : columns_) {
    if (column.kind != ColumnKind::kTokens) continue;
    limits.push_back(fmt::format("{} {}", column.longest, column.text.name));
  }
  if (longest_together) limits.push_back(fmt::format("{} together", *longest_together));
  return fmt::format(
      "{}: no record is left of {}: {} have an empty column, {} are too long, over {} tokens "
      "(data.longest)",
      columns_.front().text.file.string(),
      counts.read.records + counts.read.empty + counts.read.too_long, counts.left_out_empty(),
      counts.left_out_too_long(), fmt::join(limits, " or "));
}

}  // namespace attend
