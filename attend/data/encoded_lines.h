// The lines of documents as ids, many at a time. Not for use outside data/.
#pragma once

#include <vector>

#include "attend/base/hash.h"
#include "attend/data/corpus_build.h"
#include "attend/data/documents.h"

namespace attend {

// A line of a document.
struct EncodedLine {
  std::vector<int32_t> ids;
  size_t number;  // of its file, from 1
  bool begins;    // a document
  size_t file;    // among the files, from 0
};

class EncodedLines {
 public:
  // The encoder must outlive it. Throws what DocumentReader throws. Ends of lines are text where
  // they are kept.
  EncodedLines(const DocumentFiles& files, const TextEncoder& encoder,
               LineEnds ends = LineEnds::kKept)
      : encoder_(encoder), reader_(files), ends_(ends) {}

  std::vector<EncodedLine> next();  // in order; none at the end
  RecordCounts counts() const { return reader_.counts(); }

 private:
  const TextEncoder& encoder_;
  DocumentReader reader_;
  LineEnds ends_;
};

// All that such lines depend on.
void add_to(Hash& hash, const DocumentFiles& files, const TextEncoder& encoder);
// For messages: why no record is left of these files.
std::string explain_no_documents(const DocumentFiles& files, const CorpusCounts& counts);

}  // namespace attend
