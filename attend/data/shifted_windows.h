// Windows of a corpus (data/windows.h) that start elsewhere in each epoch, so that a model sees a
// token in different contexts and at different positions. The first window of a long document is
// shortened by a number that depends on (seed, epoch, document); the others follow as usual. Every
// token is predicted exactly once per epoch; a document that fits into one window stays whole.
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
  // The windows of `column`; one that begins with `start` begins a document. Reads the corpus once;
  // it must outlive this object. Throws FormatError if the windows are not consecutive.
  ShiftedWindows(const Corpus& corpus, std::string_view column, int32_t start);

  // The windows of one epoch, used instead of the corpus's records.
  class Epoch {
   public:
    // Of the windows; refers to this object.
    RecordLengths lengths() const { return {lengths_, windows_->rows_, parts_}; }
    // A batch of these windows, with the columns of the corpus. The line of a window is that of the
    // stored window it begins in.
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
    std::vector<RecordLengths::Part> parts_;
  };
  // The windows of an epoch, which refer to this object.
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
  std::vector<RecordLengths::Part> parts_;  // of the corpus
};

}  // namespace attend
