#include "attend/data/text_pieces.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/data/corpus_file.h"
#include "attend/data/encoded_lines.h"

namespace attend {
namespace {

class PieceStream : public RecordStream {
 public:
  PieceStream(const std::vector<std::string>& columns, const DocumentFiles& files,
              const TextEncoder& encoder, const PieceConfig& config)
      : encoder_(encoder),
        lines_(files, encoder, columns.size() > 1 ? LineEnds::kRemoved : LineEnds::kKept),
        by_lines_(columns.size() > 1),
        files_(files.files.size()),
        longest_(config.longest / columns.size()) {
    for (const std::string& column : columns) {
      described_.push_back(ColumnDescriptor::ids(column, ColumnKind::kTokens, encoder.vocabulary));
    }
  }

  std::vector<CorpusRecord> next() override {
    std::vector<CorpusRecord> records;
    while (records.empty() && !ended_) {
      const std::vector<EncodedLine> lines = lines_.next();
      for (const EncodedLine& line : lines) add(line, records);
      ended_ = lines.empty();
      if (ended_) end_document(records);
    }
    for (const CorpusRecord& record : records) count(record);
    return records;
  }

  CorpusCounts counts() const override {
    CorpusCounts counts = counts_;
    counts.read = lines_.counts();
    return counts;
  }
  std::vector<ColumnDescriptor> columns() const override { return described_; }
  size_t parts() const override { return files_; }

 private:
  struct Piece {
    std::vector<int32_t> ids = {};
    size_t line = 0;
  };

  void add(const EncodedLine& line, std::vector<CorpusRecord>& to) {
    if (line.begins) end_document(to);
    file_ = line.file;
    open_ = true;
    for (const int32_t id : line.ids) {
      if (piece_.ids.empty()) piece_.line = line.number;
      piece_.ids.push_back(id);
      if (piece_.ids.size() == longest_) end_piece(to);
    }
    if (by_lines_) end_piece(to);
  }

  void end_piece(std::vector<CorpusRecord>& to) {
    if (piece_.ids.empty()) return;
    Piece piece = std::exchange(piece_, {});
    any_ = true;
    if (described_.size() == 1) {
      to.push_back({{std::move(piece.ids)}, piece.line, file_});
    } else if (first_.ids.empty()) {
      first_ = std::move(piece);
    } else {
      Piece first = std::exchange(first_, {});
      to.push_back({{std::move(first.ids), std::move(piece.ids)}, first.line, file_});
    }
  }

  // A piece without a second one is left out.
  void end_document(std::vector<CorpusRecord>& to) {
    if (!std::exchange(open_, false)) return;
    end_piece(to);
    if (!std::exchange(any_, false) || !first_.ids.empty()) ++counts_.empty;
    first_ = {};
  }

  void count(const CorpusRecord& record) {
    for (size_t c = 0; c < described_.size(); ++c) {
      described_[c].items += record.values[c].size();
      described_[c].unknown += count_unknown(record.values[c], encoder_);
    }
  }

  const TextEncoder& encoder_;
  EncodedLines lines_;
  bool by_lines_;
  size_t files_;
  size_t longest_;  // tokens of a piece
  std::vector<ColumnDescriptor> described_;
  CorpusCounts counts_;
  Piece piece_, first_;  // that grows; the first of a pair
  size_t file_ = 0;      // that they are of
  bool open_ = false, any_ = false, ended_ = false;
};

}  // namespace

TextPieces::TextPieces(std::vector<std::string> columns, DocumentFiles files, TextEncoder encoder,
                       PieceConfig config)
    : columns_(std::move(columns)),
      files_(std::move(files)),
      encoder_(std::move(encoder)),
      config_(config) {
  if (config_.longest >= columns_.size()) return;
  throw ConfigError("pieces of {} tokens; give a longer context, such as 128", config_.longest);
}

std::unique_ptr<RecordStream> TextPieces::open() const {
  return std::make_unique<PieceStream>(columns_, files_, encoder_, config_);
}

uint64_t TextPieces::fingerprint() const {
  Hash hash;
  for (const std::string& column : columns_) hash.add(column + " ");
  add_to(hash, files_, encoder_);
  const uint64_t parts[] = {config_.longest};
  hash.add(bytes_of<uint64_t>(parts));
  return hash.value();
}

std::string TextPieces::explain_empty(const CorpusCounts& counts) const {
  if (columns_.size() == 1 || counts.empty == 0) return explain_no_documents(files_, counts);
  return fmt::format(
      "{}: no document has two pieces that follow one another; put a sentence on each line and a "
      "blank line between documents (data.documents blank), or use a shorter context",
      files_.files.front().string());
}

}  // namespace attend
