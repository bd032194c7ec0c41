// Builds corpora. A new kind of data is a RecordSource in a file of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/special_tokens.h"
#include "attend/data/corpus.h"

namespace attend {

// How text becomes ids: what this layer knows of a tokenizer.
struct TextEncoder {
  std::function<std::vector<int32_t>(std::string_view)> encode;  // called by many threads
  size_t vocabulary = 0;                                         // ids are below this
  uint64_t fingerprint = 0;  // of everything that `encode` depends on
  SpecialTokens special = {};
};

// A record before it is stored.
struct CorpusRecord {
  std::vector<std::vector<int32_t>> values;  // of each column
  size_t line = 0;                           // of the text, from 1
  size_t part = 0;  // number of the corpus it is of, where there are several; never decreases
};

// One pass over the records.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  // The next records, in order; none at the end.
  virtual std::vector<CorpusRecord> next() = 0;
  // After the last record: what was left out, what the columns hold, and how many corpora there
  // are.
  virtual CorpusCounts counts() const = 0;
  virtual std::vector<ColumnDescriptor> columns() const = 0;
  virtual size_t parts() const { return 1; }
};

// Records that can be read any number of times, always the same ones.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual std::unique_ptr<RecordStream> open() const = 0;  // starts a pass
  // A hash of the text, the tokenizers and the limits. Throws ConfigError for a source that cannot
  // be read twice, such as a pipe.
  virtual uint64_t fingerprint() const = 0;
  // For messages: why no record is left.
  virtual std::string explain_empty(const CorpusCounts& counts) const = 0;
};

// Writes the file, in place of an old one. Takes no more memory than a Corpus of it. The file has
// the same bytes for any number of threads. Throws DataError if no record is left.
void build_corpus(const RecordSource& source, const std::filesystem::path& file);

// Opens the file if it is intact and was built from this source; otherwise builds it.
Corpus open_corpus(const RecordSource& source, const std::filesystem::path& file);

// For sources: a hash of a file's bytes; throws ConfigError for standard input.
uint64_t fingerprint_of_file(const std::filesystem::path& path);
// For sources: encodes each text by its encoder, with all threads; the result does not depend on
// their number.
struct TextToEncode {
  const TextEncoder* encoder;
  std::string text;
};
std::vector<std::vector<int32_t>> encode_all(const std::vector<TextToEncode>& texts);
// How many ids are that of the unknown token.
uint64_t count_unknown(std::span<const int32_t> ids, const TextEncoder& encoder);

}  // namespace attend
