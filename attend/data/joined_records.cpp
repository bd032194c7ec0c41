#include "attend/data/joined_records.h"

#include "attend/base/hash.h"
#include "attend/data/corpus_file.h"

namespace attend {
namespace {

class JoinedStream : public RecordStream {
 public:
  explicit JoinedStream(const std::vector<std::unique_ptr<RecordSource>>& sources)
      : sources_(sources), stream_(sources.front()->open()), described_(stream_->columns()) {}

  std::vector<CorpusRecord> next() override {
    for (;;) {
      std::vector<CorpusRecord> some = stream_->next();
      for (CorpusRecord& record : some) record.part = source_;
      if (!some.empty() || source_ + 1 == sources_.size()) return some;
      counts_ += stream_->counts();
      described_ = columns();
      stream_ = sources_[++source_]->open();
    }
  }

  CorpusCounts counts() const override {
    CorpusCounts counts = counts_;
    counts += stream_->counts();
    return counts;
  }

  size_t parts() const override { return sources_.size(); }

  // Of the sources so far.
  std::vector<ColumnDescriptor> columns() const override {
    std::vector<ColumnDescriptor> now = stream_->columns();
    if (source_ == 0) return now;
    for (size_t c = 0; c < now.size(); ++c) {
      now[c].items += described_[c].items;
      now[c].unknown += described_[c].unknown;
    }
    return now;
  }

 private:
  const std::vector<std::unique_ptr<RecordSource>>& sources_;
  size_t source_ = 0;  // that is read
  std::unique_ptr<RecordStream> stream_;
  std::vector<ColumnDescriptor> described_;  // of the sources before it
  CorpusCounts counts_;
};

}  // namespace

std::unique_ptr<RecordStream> JoinedRecords::open() const {
  return std::make_unique<JoinedStream>(sources_);
}

uint64_t JoinedRecords::fingerprint() const {
  if (sources_.size() == 1) return sources_.front()->fingerprint();
  Hash hash;
  for (const auto& source : sources_) {
    const uint64_t one = source->fingerprint();
    hash.add(bytes_of<uint64_t>({&one, 1}));
  }
  return hash.value();
}

std::string JoinedRecords::explain_empty(const CorpusCounts& counts) const {
  return sources_.front()->explain_empty(counts);
}

}  // namespace attend
