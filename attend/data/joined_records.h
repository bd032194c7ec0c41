// Several corpora as one, in which the records of one follow those of the other. The corpus file
// keeps where each ends, so that they can come with different weights (RecordLengths::parts).
#pragma once

#include <memory>
#include <vector>

#include "attend/data/corpus_build.h"

namespace attend {

class JoinedRecords : public RecordSource {
 public:
  // All have the same columns. A single one is the same as that one alone.
  explicit JoinedRecords(std::vector<std::unique_ptr<RecordSource>> sources)
      : sources_(std::move(sources)) {}

  std::unique_ptr<RecordStream> open() const override;
  uint64_t fingerprint() const override;
  std::string explain_empty(const CorpusCounts& counts) const override;

 private:
  std::vector<std::unique_ptr<RecordSource>> sources_;
};

}  // namespace attend
