// Documents cut into windows of a context, for models that write what they read. A window has the
// tokens to predict, and before them some that are only read: a document's start, or the tokens
// before. Every token of a document, and its end, is predicted in exactly one window:
//
//   document  a b c d e f   context 4, overlap 1
//   windows   <s> a b c d | c d e f </s>       read without the last, predicted without the first
//   context    1            2                  tokens at the front that are not predicted
//
// A window never reaches from one document into another, and a document that fits into one is
// whole. Batches are packed, so that many short documents lie side by side without padding, and
// none sees another: there is no need for document masks.
#pragma once

#include <string>

#include "attend/data/corpus_build.h"
#include "attend/data/documents.h"

namespace attend {

// The column beside that of the windows that has how many tokens at their front are context.
std::string context_column(std::string_view column);

struct WindowConfig {
  size_t context = 256;  // tokens read at once, at most
  size_t overlap = 0;    // of them, read once more beside one token that every window repeats

  void check() const;  // throws ConfigError
};

class WindowRecords : public RecordSource {
 public:
  // Throws ConfigError.
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

// What a model reads of windows, and what it should answer to each row: `ignored` where that is not
// predicted. contexts[i] belongs to window i.
TeacherRows window_rows(const Tokens& windows, std::span<const int32_t> contexts, int32_t ignored);

}  // namespace attend
