// Documents cut into windows, for language models. A window has the tokens to predict, and before
// them tokens that are only read: the document's start, or earlier tokens. Every token of a
// document, and its end, is predicted in exactly one window:
//
//   document  a b c d e f   context 4, overlap 1
//   windows   <s> a b c d | c d e f </s>       read without the last, predicted without the first
//   context    1            2                  tokens at the front that are not predicted
//
// A window never spans two documents, and a document that fits into one window stays whole. Batches
// are packed, so that short documents lie side by side without padding and without seeing each
// other: no document masks are needed.
#pragma once

#include <string>

#include "attend/data/corpus_build.h"
#include "attend/data/documents.h"

namespace attend {

// The name of the column that has the number of context tokens at the front of each window of
// `column`.
std::string context_column(std::string_view column);

struct WindowConfig {
  size_t context = 256;  // tokens read at once, at most
  // Tokens read again by the next window, beside the one that every window repeats.
  size_t overlap = 0;

  void check() const;  // throws ConfigError
};

// The windows of some files as records.
class WindowRecords : public RecordSource {
 public:
  // Throws ConfigError for a context or overlap that is not valid.
  WindowRecords(std::string column, DocumentFiles files, TextEncoder encoder, WindowConfig config);

  // Two columns: `column` and context_column(column). Of the first, `items` are tokens to predict.
  std::unique_ptr<RecordStream> open() const override;
  uint64_t fingerprint() const override;
  std::string explain_empty(const CorpusCounts& counts) const override;

 private:
  std::string column_;
  DocumentFiles files_;
  TextEncoder encoder_;
  WindowConfig config_;
};

// What a model reads of windows, and what it should predict at each row: `ignored` where nothing is
// predicted. contexts[i] belongs to window i.
TeacherRows window_rows(const Tokens& windows, std::span<const int32_t> contexts, int32_t ignored);

}  // namespace attend
