#include <algorithm>
#include <cstring>
#include <limits>

#include "attend/base/error.h"
#include "attend/base/hash.h"
#include "attend/base/parallel.h"
#include "attend/base/special_tokens.h"
#include "attend/data/corpus_file.h"

namespace attend {
namespace {

constexpr size_t kChunk = 4096, kGrain = 64;  // pairs read at a time, and encoded by one thread
constexpr size_t kBuffer = size_t{1} << 20;

struct Pair {
  std::string source_text, target_text;
  size_t line = 0;
  std::vector<int32_t> source, target;
};

// Writes through a buffer.
class BufferedFile {
 public:
  explicit BufferedFile(const std::filesystem::path& path) : file_(path) {}

  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBuffer) flush();
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

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Of the bytes of a file, read piece by piece.
uint64_t hash_of_file(const std::filesystem::path& path) {
  const FileReader file(path);
  Hash hash;
  std::string piece(kBuffer, '\0');
  for (size_t at = 0; at < file.size(); at += piece.size()) {
    piece.resize(std::min(piece.size(), file.size() - at));
    file.read(at, std::as_writable_bytes(std::span(piece)));
    hash.add(piece);
  }
  return hash.value();
}

class Builder {
 public:
  Builder(const CorpusSpec& spec, const std::filesystem::path& path) : spec_(spec), file_(path) {
    const size_t largest = std::max(spec.source.vocabulary, spec.target.vocabulary);
    footer_.version = kCorpusVersion;
    footer_.id_bytes = largest <= size_t{std::numeric_limits<uint16_t>::max()} + 1 ? 2 : 4;
    footer_.source_vocabulary = spec.source.vocabulary;
    footer_.target_vocabulary = spec.target.vocabulary;
    file_.write(kCorpusMagic);
  }

  void build() {
    footer_.spec = fingerprint(spec_);
    PairReader reader(spec_.files, spec_.longest_line);
    std::vector<Pair> chunk(kChunk);
    for (size_t count = kChunk; count == kChunk;) {
      count = 0;
      while (count < kChunk && reader.next()) {
        chunk[count].source_text = reader.source();
        chunk[count].target_text = reader.target();
        chunk[count++].line = reader.line();
      }
      parallel_for(count, kGrain, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          chunk[i].source = spec_.source.encode(chunk[i].source_text);
          chunk[i].target = spec_.target.encode(chunk[i].target_text);
        }
      });
      for (size_t i = 0; i < count; ++i) add(chunk[i]);
    }
    footer_.counts.read = reader.counts();
    if (lengths_.empty()) fail_empty();
    finish();
  }

 private:
  void add(const Pair& pair) {
    CorpusCounts& counts = footer_.counts;
    if (pair.source.empty() || pair.target.empty()) {
      ++counts.empty;
      return;
    }
    if (pair.source.size() > spec_.longest_source || pair.target.size() > spec_.longest_target) {
      ++counts.too_long;
      return;
    }
    lengths_.push_back(
        {static_cast<uint32_t>(pair.source.size()), static_cast<uint32_t>(pair.target.size())});
    lines_.push_back(pair.line);
    counts.source_tokens += pair.source.size();
    counts.target_tokens += pair.target.size();
    counts.source_unknown += write_ids(pair.source, spec_.source.vocabulary);
    counts.target_unknown += write_ids(pair.target, spec_.target.vocabulary);
  }

  // Returns how many are unknown.
  uint64_t write_ids(const std::vector<int32_t>& ids, size_t vocabulary) {
    uint64_t unknown = 0;
    for (const int32_t id : ids) {
      if (id < 0 || static_cast<size_t>(id) >= vocabulary) {
        throw DataError("corpus: the tokenizer gave id {} with a vocabulary of {}", id, vocabulary);
      }
      file_.write({reinterpret_cast<const char*>(&id), footer_.id_bytes});  // its low bytes
      unknown += id == kUnknown ? 1 : 0;
    }
    return unknown;
  }

  void finish() {
    footer_.pairs = lengths_.size();
    footer_.ids = footer_.counts.source_tokens + footer_.counts.target_tokens;
    const size_t bytes = footer_.ids * footer_.id_bytes;
    file_.write(std::string(padded(bytes) - bytes, '\0'));
    Hash hash;
    const auto write = [&](std::string_view table) {
      hash.add(table);
      file_.write(table);
    };
    write(bytes_of<PairLengths>(lengths_));
    uint64_t begin = 0;
    for (const PairLengths& length : lengths_) {
      write(bytes_of<uint64_t>({&begin, 1}));
      begin += uint64_t{length.source} + length.target;
    }
    write(bytes_of<uint64_t>(lines_));
    footer_.table_hash = hash.value();
    const std::string_view footer = bytes_of<CorpusFooter>({&footer_, 1});
    footer_.footer_hash = hash_of(footer.substr(0, offsetof(CorpusFooter, footer_hash)));
    kCorpusMagic.copy(footer_.magic, sizeof footer_.magic);
    file_.write(footer);
    file_.commit();
  }

  [[noreturn]] void fail_empty() const {
    const CorpusCounts& counts = footer_.counts;
    throw DataError(
        "{}: no pair is left of {}: {} have an empty side, {} are too long, over {} "
        "source or {} target tokens (data.longest)",
        spec_.files.source.string(), counts.read.pairs + counts.read.empty + counts.read.too_long,
        counts.read.empty + counts.empty, counts.read.too_long + counts.too_long,
        spec_.longest_source, spec_.longest_target);
  }

  const CorpusSpec& spec_;
  BufferedFile file_;
  CorpusFooter footer_{};
  std::vector<PairLengths> lengths_;
  std::vector<uint64_t> lines_;
};

}  // namespace

uint64_t fingerprint(const CorpusSpec& spec) {
  const PairFiles& files = spec.files;
  if (files.source == "-" || files.target == "-") {
    throw ConfigError("corpus: standard input cannot be read twice; give a file");
  }
  const uint64_t parts[] = {
      hash_of_file(files.source),
      files.target.empty() ? 0 : hash_of_file(files.target),
      files.target.empty() ? files.source_column : 0,
      files.target.empty() ? files.target_column : 0,
      spec.source.vocabulary,
      spec.source.fingerprint,
      spec.target.vocabulary,
      spec.target.fingerprint,
      spec.longest_source,
      spec.longest_target,
      spec.longest_line,
      kCorpusVersion,
  };
  return hash_of(bytes_of<uint64_t>(parts));
}

void build_corpus(const CorpusSpec& spec, const std::filesystem::path& file) {
  Builder(spec, file).build();
}

Corpus open_corpus(const CorpusSpec& spec, const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) {
    try {
      Corpus corpus(file);
      if (corpus.spec() == fingerprint(spec)) return corpus;
    } catch (const FormatError&) {  // made again below
    }
  }
  build_corpus(spec, file);
  return Corpus(file);
}

}  // namespace attend
