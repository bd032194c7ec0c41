#include "attend/data/corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>

#include "attend/base/hash.h"
#include "attend/base/printable.h"
#include "attend/data/corpus_file.h"
#include "attend/data/windows.h"

namespace attend {

static_assert(std::endian::native == std::endian::little);
static_assert(std::is_trivially_copyable_v<CorpusFooter> &&
              std::has_unique_object_representations_v<CorpusFooter>);
static_assert(std::is_trivially_copyable_v<ColumnDescriptor> &&
              std::has_unique_object_representations_v<ColumnDescriptor>);

namespace {

constexpr size_t kBeginEvery = 64;
constexpr uint64_t kMostVocabulary = uint64_t{1} << 31;

bool ended_by_zero(const ColumnDescriptor& column) {
  return column.name_bytes[ColumnDescriptor::kLongestName] == '\0';
}

// From the bits of one number for each record.
Column number_column(std::span<const int32_t> bits) {
  std::vector<float> numbers(bits.size());
  std::ranges::transform(bits, numbers.begin(), [](int32_t b) { return std::bit_cast<float>(b); });
  return {Tensor::of(numbers, {numbers.size()}), Packing::even(numbers.size(), 1)};
}

}  // namespace

ColumnDescriptor ColumnDescriptor::ids(std::string_view name, ColumnKind kind, size_t vocabulary) {
  if (name.empty() || name.size() > kLongestName) {
    throw ConfigError("corpus: '{}' cannot name a column: 1 to {} bytes are allowed",
                      shown_name(name), kLongestName);
  }
  ColumnDescriptor column{};
  name.copy(column.name_bytes, kLongestName);
  column.kind_value = static_cast<uint32_t>(kind);
  column.element_bytes = vocabulary <= size_t{std::numeric_limits<uint16_t>::max()} + 1 ? 2 : 4;
  column.item_values = 1;
  column.vocabulary = vocabulary;
  return column;
}

ColumnDescriptor ColumnDescriptor::numbers(std::string_view name) {
  return ids(name, ColumnKind::kNumber, kMostVocabulary);
}

size_t RecordLengths::rows(size_t record) const {
  int64_t sum = 0;
  const std::span<const uint32_t> items = (*this)[record];
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].sequence) sum += std::max<int64_t>(0, int64_t{items[i]} + columns[i].extra);
  }
  return static_cast<size_t>(sum);
}

double RecordLengths::weight(size_t record) const {
  const auto part = std::ranges::upper_bound(parts, record, {}, &Part::end);
  return part == parts.end() ? 1 : part->weight;
}

double RecordLengths::rows_of_epoch() const {
  double sum = 0;
  for (size_t i = 0; i < size(); ++i) sum += weight(i) * static_cast<double>(rows(i));
  return sum;
}

CorpusCounts& CorpusCounts::operator+=(const CorpusCounts& other) {
  read += other.read;
  empty += other.empty;
  too_long += other.too_long;
  return *this;
}

template <typename... Args>
void Corpus::fail(fmt::format_string<Args...> text, Args&&... args) const {
  throw FormatError("{}: {}; delete it, and it will be made again", file_.path().string(),
                    fmt::format(text, std::forward<Args>(args)...));
}

Corpus::Corpus(const std::filesystem::path& file) : file_(file) {
  read_footer();
  read_columns();
  read_table();
}

void Corpus::read_footer() {
  char magic[kCorpusMagic.size()] = {};
  const size_t size = file_.size();
  if (size < sizeof magic + sizeof footer_) fail("not a corpus");
  file_.read(0, std::as_writable_bytes(std::span(magic)));
  if (std::string_view(magic, sizeof magic) != kCorpusMagic) fail("not a corpus");
  file_.read(size - sizeof footer_, std::as_writable_bytes(std::span(&footer_, 1)));
  if (std::string_view(footer_.magic, sizeof footer_.magic) != kCorpusMagic) fail("it is cut off");
  if (footer_.version != kCorpusVersion) {
    fail("it has version {}, but this program reads version {}", footer_.version, kCorpusVersion);
  }
  const std::string_view footer = bytes_of(std::span<const CorpusFooter>(&footer_, 1));
  if (footer_.footer_hash != hash_of(footer.substr(0, offsetof(CorpusFooter, footer_hash)))) {
    fail("its footer is damaged");
  }
  if (footer_.columns == 0 || footer_.columns > kMostColumns) {
    fail("it has {} columns; there can be 1 to {}", footer_.columns, kMostColumns);
  }
  const size_t described = footer_.columns * sizeof(ColumnDescriptor);
  const size_t around = sizeof magic + sizeof footer_ + described;
  const size_t room = size < around ? 0 : size - around, record = table_bytes(footer_.columns);
  if (size < around || footer_.value_bytes > room || footer_.records > room / record ||
      footer_.parts == 0 || footer_.parts > room / sizeof(uint64_t) ||
      room != footer_.value_bytes + footer_.records * record + footer_.parts * sizeof(uint64_t)) {
    fail("its size does not fit what it says it holds");
  }
}

void Corpus::read_columns() {
  columns_.resize(footer_.columns);
  const size_t bytes = columns_.size() * sizeof(ColumnDescriptor);
  const size_t behind = sizeof footer_ + footer_.parts * sizeof(uint64_t);
  file_.read(file_.size() - behind - bytes, std::as_writable_bytes(std::span(columns_)));
  std::set<std::string_view> names;
  for (const ColumnDescriptor& column : columns_) {
    if (!ended_by_zero(column) || column.name().empty()) fail("a column has no name");
    if (!names.insert(column.name()).second) {
      fail("there are two columns '{}'", shown_name(column.name()));
    }
    if (name_of(column.kind()) == "unknown") {
      fail("column {} is of kind {}, which this program does not know", shown_name(column.name()),
           column.kind_value);
    }
    const bool of_ids = column.item_values == 1 &&
                        (column.element_bytes == 2 || column.element_bytes == 4) &&
                        column.vocabulary <= kMostVocabulary;
    const bool of_numbers = column.kind() != ColumnKind::kNumber || column.element_bytes == 4;
    if (!of_ids || !of_numbers) {
      fail("column {} does not hold ids or numbers", shown_name(column.name()));
    }
  }
}

void Corpus::read_table() {
  const size_t records = footer_.records, columns = columns_.size();
  size_t at = kCorpusMagic.size() + footer_.value_bytes;
  Hash hash;
  const auto read = [&]<typename T>(std::span<T> to) {
    file_.read(at, std::as_writable_bytes(to));
    at += to.size_bytes();
    hash.add(bytes_of<T>(to));
  };
  lengths_.resize(records * columns);
  read(std::span(lengths_));
  lines_.resize(records);
  read(std::span(lines_));
  hash.add(bytes_of<ColumnDescriptor>(columns_));
  at += columns * sizeof(ColumnDescriptor);
  parts_.resize(footer_.parts);
  read(std::span(parts_));
  if (hash.value() != footer_.table_hash) fail("its table is damaged");
  if (!std::ranges::is_sorted(parts_) || parts_.back() != records) {
    fail("its parts are not those of {} records", records);
  }

  uint64_t next = 0;
  for (size_t i = 0; i < records; ++i) {
    if (i % kBeginEvery == 0) begins_.push_back(next);
    for (size_t c = 0; c < columns; ++c) {
      const ColumnKind kind = columns_[c].kind();
      const bool is_one = kind == ColumnKind::kLabel || kind == ColumnKind::kNumber;
      if (is_one && length(i, c) != 1) {
        fail("record {} has {} values in column {}, which must have one", i, length(i, c),
             shown_name(columns_[c].name()));
      }
      next += length(i, c) * columns_[c].item_bytes();
      if (next > footer_.value_bytes) fail("record {} is past the end", i);
    }
  }
  if (next != footer_.value_bytes) {
    fail("its records take {} bytes, but it has {}", next, footer_.value_bytes);
  }
}

bool Corpus::has(std::string_view name) const {
  return std::ranges::find(columns_, name, &ColumnDescriptor::name) != columns_.end();
}

size_t Corpus::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &ColumnDescriptor::name);
  if (found != columns_.end()) return static_cast<size_t>(found - columns_.begin());
  std::vector<std::string> names;
  for (const ColumnDescriptor& column : columns_) names.push_back(shown_name(column.name()));
  throw DataError("{}: there is no column {}; there {}: {}", file_.path().string(), name,
                  names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
}

RecordLengths Corpus::lengths() const {
  RecordLengths all{lengths_, {}};
  for (const ColumnDescriptor& column : columns_) {
    const bool window = has(context_column(column.name()));
    all.columns.push_back(
        {.sequence = column.kind() == ColumnKind::kTokens, .extra = window ? -1 : 1});
  }
  for (size_t i = 0; i < weights_.size(); ++i) all.parts.push_back({parts_[i], weights_[i]});
  return all;
}

void Corpus::weigh(std::span<const double> weights) {
  if (weights.size() != parts_.size()) {
    throw ConfigError("{}: {} weights for {} corpora", file_.path().string(), weights.size(),
                      parts_.size());
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    const uint64_t records = parts_[i] - (i == 0 ? 0 : parts_[i - 1]);
    if (weights[i] * static_cast<double>(records) >= 1) continue;
    throw DataError(
        "{}: corpus {} of {} has {} records, of which an epoch has none by a weight of {}; give a "
        "larger weight, or leave the corpus out",
        file_.path().string(), i + 1, parts_.size(), records, weights[i]);
  }
  weights_.assign(weights.begin(), weights.end());
}

size_t Corpus::record_bytes(size_t record) const {
  size_t bytes = 0;
  for (size_t c = 0; c < columns_.size(); ++c)
    bytes += length(record, c) * columns_[c].item_bytes();
  return bytes;
}

uint64_t Corpus::begin_of(size_t record) const {
  uint64_t begin = begins_[record / kBeginEvery];
  for (size_t i = record / kBeginEvery * kBeginEvery; i < record; ++i) begin += record_bytes(i);
  return begin;
}

void Corpus::append(size_t record, size_t column, std::vector<int32_t>& ids) const {
  uint64_t begin = begin_of(record);
  for (size_t c = 0; c < column; ++c) begin += length(record, c) * columns_[c].item_bytes();
  const ColumnDescriptor& from = columns_[column];
  const size_t before = ids.size(), count = length(record, column), bytes = from.element_bytes;
  ids.resize(before + count);
  // Ids of two bytes are read into the second half and widened from the front.
  const std::span<std::byte> room = std::as_writable_bytes(std::span(ids).subspan(before));
  const std::span<std::byte> stored = room.last(count * bytes);
  file_.read(kCorpusMagic.size() + begin, stored);
  for (size_t i = 0; i < count; ++i) {
    uint32_t id = 0;
    std::memcpy(&id, stored.data() + i * bytes, bytes);
    if (from.kind() == ColumnKind::kNumber) {
      if (!std::isfinite(std::bit_cast<float>(id))) {
        fail("a number that is not finite (column {})", shown_name(from.name()));
      }
    } else if (id >= from.vocabulary) {
      fail("id {} in a vocabulary of {} (column {})", id, from.vocabulary, shown_name(from.name()));
    }
    ids[before + i] = static_cast<int32_t>(id);
  }
}

Batch make_batch(const Corpus& corpus, std::span<const uint32_t> records) {
  Batch batch(records.size());
  for (size_t c = 0; c < corpus.columns().size(); ++c) {
    std::vector<int32_t> ids, lengths;
    lengths.reserve(records.size());
    for (const uint32_t record : records) {
      lengths.push_back(static_cast<int32_t>(corpus.length(record, c)));
      corpus.append(record, c, ids);
    }
    const std::string name(corpus.columns()[c].name());
    if (corpus.columns()[c].kind() == ColumnKind::kNumber) {
      batch.add(name, number_column(ids));
    } else {
      batch.add(name, Tokens(ids, Packing(lengths)));
    }
  }
  for (const uint32_t record : records) batch.lines.push_back(corpus.line(record));
  return batch;
}

}  // namespace attend
