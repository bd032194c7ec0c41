// Records of named columns in one file. Values are read when they are needed, so that a corpus may
// be larger than memory: it takes 8 bytes per record, and 4 for each of its columns. The file
// (little-endian):
//
//   "ATTENDRC"   8 bytes
//   values       of each record in turn, column by column: its items, each of `item_values`
//                elements of `element_bytes` (ids and labels: one element of 2 or 4 bytes;
//                numbers: one float32)
//   lengths      u32 of each record and column: number of items
//   lines        u64 of each record: the line of the text, from 1
//   columns      ColumnDescriptor of each column
//   parts        u64 of each corpus that it was built from: the record after its last one
//   footer       CorpusFooter: what is in the file, what it was made from, checksums
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/data/batch.h"
#include "attend/data/records.h"

namespace attend {

// A column, as the file describes it.
struct ColumnDescriptor {
  static constexpr size_t kLongestName = 31;

  char name_bytes[kLongestName + 1];  // zeros behind the name
  uint32_t kind_value;                // of ColumnKind
  uint32_t element_bytes;
  uint64_t item_values;
  uint64_t vocabulary;      // ids are below this
  uint64_t items, unknown;  // of all records; those not in the vocabulary

  // A column of ids, 2 bytes each if the vocabulary allows. Throws ConfigError for a name that is
  // too long.
  static ColumnDescriptor ids(std::string_view name, ColumnKind kind, size_t vocabulary);
  // A column of float32, whose bits are stored as ids are.
  static ColumnDescriptor numbers(std::string_view name);

  // The fields above, in their types; bytes of an item.
  std::string_view name() const { return name_bytes; }
  ColumnKind kind() const { return static_cast<ColumnKind>(kind_value); }
  uint64_t item_bytes() const { return item_values * element_bytes; }
};

// What was read, and what was left out of the corpus.
struct CorpusCounts {
  RecordCounts read;
  uint64_t empty = 0;     // left out: no token in a column
  uint64_t too_long = 0;  // left out: more tokens than allowed in a column

  // Left out while reading and afterwards, by reason and in all.
  uint64_t left_out_empty() const { return read.empty + empty; }
  uint64_t left_out_too_long() const { return read.too_long + too_long; }
  uint64_t left_out() const { return left_out_empty() + left_out_too_long(); }
  CorpusCounts& operator+=(const CorpusCounts& other);  // adds those of another corpus
  bool operator==(const CorpusCounts&) const = default;
};

// The last bytes of the file.
struct CorpusFooter {
  uint32_t version, columns;
  uint64_t spec;  // a fingerprint of the text, the tokenizers and the limits
  uint64_t records, value_bytes, parts;
  CorpusCounts counts;
  uint64_t table_hash, footer_hash;  // of lengths, lines and columns; of all above
  char magic[8];
};

// The length of each record, the rows that it takes in a batch, and how often an epoch has it.
struct RecordLengths {
  // What a column adds to a batch.
  struct ColumnRows {
    bool sequence = true;  // false: no rows
    int32_t extra = 1;     // rows beside the items: a start or an end
  };
  // Records up to `end`, from the end of the part before. Each is in an epoch `weight` times: as
  // many times as the whole number below it or above it, `weight` times on average.
  struct Part {
    size_t end = 0;
    double weight = 1;
  };
  std::span<const uint32_t> lengths;  // items, [records, columns]
  std::vector<ColumnRows> columns;
  std::vector<Part> parts = {};  // none: an epoch has each record once

  // Number of records, and the items of each column of a record.
  size_t size() const { return columns.empty() ? 0 : lengths.size() / columns.size(); }
  std::span<const uint32_t> operator[](size_t record) const {
    return lengths.subspan(record * columns.size(), columns.size());
  }
  size_t rows(size_t record) const;    // of a batch
  double weight(size_t record) const;  // of its part
  double rows_of_epoch() const;        // on average
};

// A corpus that was built. May be read by several threads at once.
class Corpus {
 public:
  // Opens a file. Checks everything but the values, which are checked as they are read. Throws
  // FormatError and IoError.
  explicit Corpus(const std::filesystem::path& file);

  size_t size() const { return lines_.size(); }  // records
  // The columns, by number, and whether there is one of that name.
  std::span<const ColumnDescriptor> columns() const { return columns_; }
  bool has(std::string_view name) const;
  // Its number; throws DataError that lists the columns.
  size_t column(std::string_view name) const;
  RecordLengths lengths() const;  // of all records; refers to the corpus
  // The corpora that it was built from: of each, the record after its last one.
  std::span<const uint64_t> parts() const { return parts_; }
  // How often an epoch has each record of each part; for lengths() from now on. Throws ConfigError
  // for another number of weights, and DataError for a part of which an epoch would have no record.
  void weigh(std::span<const double> weights);
  // Items of a column of a record.
  size_t length(size_t record, size_t column) const {
    return lengths_[record * columns_.size() + column];
  }
  size_t line(size_t record) const { return lines_[record]; }  // of the text, from 1
  // Appends a record's values to `ids`; numbers as their bits. Throws FormatError for an invalid
  // id, and IoError if the file cannot be read or was truncated.
  void append(size_t record, size_t column, std::vector<int32_t>& ids) const;

  // What was read and left out, and the fingerprint of what it was built from.
  const CorpusCounts& counts() const { return footer_.counts; }
  uint64_t spec() const { return footer_.spec; }

 private:
  void read_footer();
  void read_columns();
  void read_table();
  size_t record_bytes(size_t record) const;
  uint64_t begin_of(size_t record) const;
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const;

  FileReader file_;
  CorpusFooter footer_{};
  std::vector<ColumnDescriptor> columns_;
  std::vector<uint32_t> lengths_;  // [records, columns]
  std::vector<uint64_t> begins_;   // of every kBeginEvery-th record
  std::vector<uint64_t> lines_;
  std::vector<uint64_t> parts_;
  std::vector<double> weights_;  // of each part; none: all 1
};

// A batch of these records, as they are stored: without start and end tokens.
Batch make_batch(const Corpus& corpus, std::span<const uint32_t> records);

}  // namespace attend
