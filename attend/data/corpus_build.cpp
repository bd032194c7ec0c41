#include "attend/data/corpus_build.h"

#include <algorithm>
#include <cstddef>

#include "attend/base/hash.h"
#include "attend/base/parallel.h"
#include "attend/data/corpus_file.h"
#include "attend/data/lines.h"

namespace attend {
namespace {

constexpr size_t kGrain = 64;  // texts encoded by one thread
constexpr size_t kWriteBytes = size_t{1} << 20;

// Writes through a buffer.
class BufferedFile {
 public:
  explicit BufferedFile(const std::filesystem::path& path) : file_(path) {}

  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kWriteBytes) flush();
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }

  AtomicFile file_;
  std::string buffer_;
};

class Builder {
 public:
  Builder(const RecordSource& source, const std::filesystem::path& path)
      : source_(source), file_(path) {
    file_.write(kCorpusMagic);
  }

  void build() {
    footer_.version = kCorpusVersion;
    footer_.spec = source_.fingerprint();
    const std::unique_ptr<RecordStream> stream = source_.open();
    columns_ = stream->columns();
    for (std::vector<CorpusRecord> some; !(some = stream->next()).empty();) {
      for (const CorpusRecord& record : some) add(record);
    }
    footer_.counts = stream->counts();
    columns_ = stream->columns();
    if (lines_.empty()) throw DataError("{}", source_.explain_empty(footer_.counts));
    parts_.resize(stream->parts(), lines_.size());
    finish();
  }

 private:
  void add(const CorpusRecord& record) {
    if (parts_.size() < record.part) parts_.resize(record.part, lines_.size());
    lines_.push_back(record.line);
    for (size_t c = 0; c < columns_.size(); ++c) {
      lengths_.push_back(static_cast<uint32_t>(record.values[c].size()));
      write_ids(record.values[c], columns_[c]);
    }
  }

  void write_ids(const std::vector<int32_t>& ids, const ColumnDescriptor& column) {
    for (const int32_t id : ids) {
      const bool is_id = column.kind() != ColumnKind::kNumber;
      if (is_id && (id < 0 || static_cast<size_t>(id) >= column.vocabulary)) {
        throw DataError("corpus: the tokenizer of {} gave id {} with a vocabulary of {}",
                        column.name(), id, column.vocabulary);
      }
      file_.write({reinterpret_cast<const char*>(&id), column.element_bytes});  // its low bytes
    }
    footer_.value_bytes += ids.size() * column.item_bytes();
  }

  void finish() {
    footer_.records = lines_.size();
    footer_.columns = static_cast<uint32_t>(columns_.size());
    Hash hash;
    const auto write = [&](std::string_view table) {
      hash.add(table);
      file_.write(table);
    };
    write(bytes_of<uint32_t>(lengths_));
    write(bytes_of<uint64_t>(lines_));
    write(bytes_of<ColumnDescriptor>(columns_));
    footer_.parts = parts_.size();
    write(bytes_of<uint64_t>(parts_));
    footer_.table_hash = hash.value();
    const std::string_view footer = bytes_of<CorpusFooter>({&footer_, 1});
    footer_.footer_hash = hash_of(footer.substr(0, offsetof(CorpusFooter, footer_hash)));
    kCorpusMagic.copy(footer_.magic, sizeof footer_.magic);
    file_.write(footer);
    file_.commit();
  }

  const RecordSource& source_;
  BufferedFile file_;
  CorpusFooter footer_{};
  std::vector<ColumnDescriptor> columns_;
  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> lines_;
  std::vector<uint64_t> parts_;  // ends of those before the part of the last record
};

}  // namespace

void build_corpus(const RecordSource& source, const std::filesystem::path& file) {
  Builder(source, file).build();
}

Corpus open_corpus(const RecordSource& source, const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) {
    try {
      Corpus corpus(file);
      if (corpus.spec() == source.fingerprint()) return corpus;
    } catch (const FormatError&) {  // made again below
    }
  }
  build_corpus(source, file);
  return Corpus(file);
}

uint64_t fingerprint_of_file(const std::filesystem::path& path) {
  const FileColumn column = file_column(path);
  if (column.file == "-") {
    throw ConfigError("corpus: standard input cannot be read twice; give a file");
  }
  const FileReader file(column.file);
  Hash hash;
  if (column.place > 0) hash.add(fmt::format("column {} of ", column.place));
  if (!column.name.empty()) hash.add(fmt::format("column '{}' of ", column.name));
  std::string piece(kWriteBytes, '\0');
  for (size_t at = 0; at < file.size(); at += piece.size()) {
    piece.resize(std::min(piece.size(), file.size() - at));
    file.read(at, std::as_writable_bytes(std::span(piece)));
    hash.add(piece);
  }
  return hash.value();
}

std::vector<std::vector<int32_t>> encode_all(const std::vector<TextToEncode>& texts) {
  std::vector<std::vector<int32_t>> ids(texts.size());
  parallel_for(texts.size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) ids[i] = texts[i].encoder->encode(texts[i].text);
  });
  return ids;
}

uint64_t count_unknown(std::span<const int32_t> ids, const TextEncoder& encoder) {
  return static_cast<uint64_t>(std::ranges::count(ids, encoder.special.unknown));
}

}  // namespace attend
