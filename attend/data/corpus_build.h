// Corpora from what their records are read from. A new kind of data is a RecordSource in a file of
// its own.
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

// How text becomes ids: a tokenizer, seen from here.
struct TextEncoder {
  std::function<std::vector<int32_t>(std::string_view)> encode;  // called by many threads
  size_t vocabulary = 0;                                         // ids are below this
  uint64_t fingerprint = 0;                                      // of all that encode depends on
  SpecialTokens special = {};
};

struct CorpusRecord {
  std::vector<std::vector<int32_t>> values;  // of each column
  size_t line = 0;                           // of the text, from 1
};

// One pass over the records.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  // Some records, in order; none at the end.
  virtual std::vector<CorpusRecord> next() = 0;
  // After the last: what was left out, and what the columns hold.
  virtual CorpusCounts counts() const = 0;
  virtual std::vector<ColumnDescriptor> columns() const = 0;
};

class RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual std::unique_ptr<RecordStream> open() const = 0;
  // Changes with any change of the text, the tokenizers or the limits. Throws ConfigError for what
  // cannot be read twice.
  virtual uint64_t fingerprint() const = 0;
  // Why no record is left.
  virtual std::string explain_empty(const CorpusCounts& counts) const = 0;
};

// Replaces the file; records stream through, and what a Corpus holds of each is held. The same
// bytes for any number of threads. Throws DataError if no record is left.
void build_corpus(const RecordSource& source, const std::filesystem::path& file);

// Uses the file if it is whole and was made from this source, and builds it otherwise.
Corpus open_corpus(const RecordSource& source, const std::filesystem::path& file);

// For sources: the fingerprint of a file's bytes; ConfigError for standard input.
uint64_t fingerprint_of_file(const std::filesystem::path& path);
// For sources: encodes texts[i] by encoders[i]; the same for any number of threads.
struct TextToEncode {
  const TextEncoder* encoder;
  std::string text;
};
std::vector<std::vector<int32_t>> encode_all(const std::vector<TextToEncode>& texts);
uint64_t count_unknown(std::span<const int32_t> ids, const TextEncoder& encoder);

}  // namespace attend
