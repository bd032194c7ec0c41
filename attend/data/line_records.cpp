#include "attend/data/line_records.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/hash.h"
#include "attend/data/corpus_file.h"

namespace attend {
namespace {

constexpr size_t kRecordsAtOnce =
    4096;  // lines read at a time, or so many that have this many bytes
constexpr size_t kRecordBytesAtOnce = size_t{16} << 20;

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
      described_.push_back(
          ColumnDescriptor::ids(column.text.name, column.kind, column.encoder.vocabulary));
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
    std::vector<TextToEncode> texts;
    std::vector<CorpusRecord> records;
    size_t bytes = 0;
    while (records.size() < kRecordsAtOnce && bytes < kRecordBytesAtOnce && reader_.next()) {
      records.push_back({.values = {}, .line = reader_.line()});
      for (size_t c = 0; c < columns_.size(); ++c) {
        bytes += reader_.text(c).size();
        texts.push_back({&columns_[c].encoder, std::string(reader_.text(c))});
      }
    }
    std::vector<std::vector<int32_t>> ids = encode_all(texts);
    for (size_t i = 0; i < ids.size(); ++i) {
      records[i / columns_.size()].values.push_back(std::move(ids[i]));
    }
    return records;
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
      together += record.values[c].size();
      if (columns_[c].kind == ColumnKind::kLabel) {
        check_label(record, c);
      } else if (record.values[c].size() > columns_[c].longest) {
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
      described_[c].unknown += count_unknown(record.values[c], columns_[c].encoder);
    }
    return true;
  }

  void check_label(const CorpusRecord& record, size_t column) const {
    if (record.values[column].size() == 1) return;
    throw DataError(
        "{}:{}: a {} of {} tokens, but a label is one; with vocabulary.target_kind 'line' the "
        "whole "
        "line is one",
        columns_[column].text.file.string(), record.line, columns_[column].text.name,
        record.values[column].size());
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
         column.longest});
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
