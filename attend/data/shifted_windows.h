// Windows of a corpus (data/windows.h), cut anew for each epoch, so that a model sees a token after
// different beginnings and at different positions. The first window of a long document is shorter,
// by a number that follows from (seed, epoch, document); those after it follow as they always do,
// each with its context. Every token is predicted exactly once an epoch; a document that fits into
// one window stays whole.
//
//   document  a b c d e f g   context 4, overlap 1, shorter by 1
//   windows   <s> a b c | b c d e f | e f g </s>
#pragma once

#include <string>
#include <vector>

#include "attend/data/corpus.h"

namespace attend {

class ShiftedWindows {
 public:
  // The windows of `column`, of which those that begin with `start` begin a document. Reads the
  // corpus once; it must outlive this. Throws FormatError where windows do not follow each other.
  ShiftedWindows(const Corpus& corpus, std::string_view column, int32_t start);

  // Those of one epoch, which take the place of the corpus's records.
  class Epoch {
   public:
    RecordLengths lengths() const { return {lengths_, windows_->rows_}; }
    // Columns as in the corpus. The line of a window is that of the stored one it begins in.
    Batch batch(std::span<const uint32_t> windows) const;

   private:
    friend class ShiftedWindows;
    struct Part {  // of a document: tokens that are predicted
      size_t document;
      uint64_t begin, end;
    };
    Part part(uint32_t window) const;

    const ShiftedWindows* windows_ = nullptr;
    std::vector<uint64_t> firsts_;   // window of each document
    std::vector<uint32_t> sizes_;    // tokens predicted in it
    std::vector<uint32_t> lengths_;  // items of each window and column
  };
  Epoch epoch(uint64_t seed, uint64_t number) const;

 private:
  struct Document {
    size_t record;    // the first of it
    uint64_t tokens;  // to predict
  };
  size_t stride() const { return context_ - overlap_; }
  void find_documents(int32_t start);
  void check_documents() const;
  // The stored window that predicts a token.
  size_t record_of(const Document& document, uint64_t token) const;
  // Of the predicted tokens begin .. end of a document, to the end of `ids`.
  void append(const Document& document, uint64_t begin, uint64_t end,
              std::vector<int32_t>& ids) const;

  const Corpus& corpus_;
  size_t column_, context_column_;  // numbers
  int32_t start_;
  size_t context_, overlap_ = 0;
  std::vector<Document> documents_;
  std::vector<RecordLengths::ColumnRows> rows_;
};

}  // namespace attend
