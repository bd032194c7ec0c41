#include "attend/data/windows.h"

#include <algorithm>
#include <utility>

#include "attend/data/corpus_file.h"
#include "attend/data/encoded_lines.h"

namespace attend {
namespace {

// Tokens one by one, into windows.
class Cutter {
 public:
  Cutter(const WindowConfig& config, const SpecialTokens& special)
      : config_(config), special_(special) {}

  void begin_document(size_t line, size_t file) {
    window_ = {special_.start};
    context_ = 1;
    line_ = line;
    file_ = file;
  }
  void add(int32_t token, size_t line, std::vector<CorpusRecord>& to) {
    if (window_.size() == context_) line_ = line;
    window_.push_back(token);
    if (window_.size() > config_.context) emit(to);
  }
  void end_document(size_t line, std::vector<CorpusRecord>& to) {
    add(special_.end, line, to);
    if (window_.size() > context_) emit(to);
  }

 private:
  void emit(std::vector<CorpusRecord>& to) {
    const size_t kept = std::min(config_.overlap + 1, window_.size());
    std::vector<int32_t> next(window_.end() - static_cast<ptrdiff_t>(kept), window_.end());
    to.push_back({{std::move(window_), {static_cast<int32_t>(context_)}}, line_, file_});
    window_ = std::move(next);
    context_ = window_.size();
  }

  WindowConfig config_;
  SpecialTokens special_;
  std::vector<int32_t> window_;
  size_t context_ = 0;  // tokens at the front of the window that are not predicted in it
  size_t line_ = 0;     // of the first that is
  size_t file_ = 0;     // of the document
};

class WindowStream : public RecordStream {
 public:
  WindowStream(const std::string& column, const DocumentFiles& files, const TextEncoder& encoder,
               const WindowConfig& config)
      : encoder_(encoder),
        lines_(files, encoder),
        cutter_(config, encoder.special),
        files_(files.files.size()) {
    described_ = {
        ColumnDescriptor::ids(column, ColumnKind::kTokens, encoder.vocabulary),
        ColumnDescriptor::ids(context_column(column), ColumnKind::kLabel, config.context + 1)};
  }

  std::vector<CorpusRecord> next() override {
    std::vector<CorpusRecord> windows;
    while (windows.empty() && !ended_) {
      const std::vector<EncodedLine> lines = lines_.next();
      for (const EncodedLine& line : lines) add(line, windows);
      ended_ = lines.empty();
      if (ended_) end_document(windows);
    }
    for (const CorpusRecord& record : windows) count(record);
    return windows;
  }

  CorpusCounts counts() const override {
    CorpusCounts counts = counts_;
    counts.read = lines_.counts();
    return counts;
  }
  std::vector<ColumnDescriptor> columns() const override { return described_; }
  size_t parts() const override { return files_; }

 private:
  void add(const EncodedLine& line, std::vector<CorpusRecord>& windows) {
    if (line.begins) {
      end_document(windows);
      cutter_.begin_document(line.number, line.file);
      open_ = true;
    }
    for (const int32_t id : line.ids) cutter_.add(id, line.number, windows);
    tokens_ += line.ids.size();
    line_ = line.number;
  }

  // A document without tokens would teach nothing but to end at once.
  void end_document(std::vector<CorpusRecord>& windows) {
    if (!std::exchange(open_, false)) return;
    if (std::exchange(tokens_, 0) == 0) {
      ++counts_.empty;
    } else {
      cutter_.end_document(line_, windows);
    }
  }

  void count(const CorpusRecord& record) {
    const auto context = static_cast<size_t>(record.values[1].front());
    const std::span<const int32_t> predicted = std::span(record.values[0]).subspan(context);
    described_[0].items += predicted.size();
    described_[0].unknown += count_unknown(predicted, encoder_);
    described_[1].items += 1;
  }

  const TextEncoder& encoder_;
  EncodedLines lines_;
  Cutter cutter_;
  size_t files_;
  std::vector<ColumnDescriptor> described_;
  CorpusCounts counts_;
  bool open_ = false, ended_ = false;  // a document; the text
  size_t tokens_ = 0, line_ = 0;       // of the document so far; the last line of it
};

}  // namespace

std::string context_column(std::string_view column) { return fmt::format("{}.context", column); }

void WindowConfig::check() const {
  if (context == 0) throw ConfigError("windows of 0 tokens; give a context, such as 256");
  if (overlap >= context) {
    throw ConfigError(
        "windows of {} tokens that overlap by {} never get to the next token; the overlap must be "
        "smaller than the context",
        context, overlap);
  }
}

WindowRecords::WindowRecords(std::string column, DocumentFiles files, TextEncoder encoder,
                             WindowConfig config)
    : column_(std::move(column)),
      files_(std::move(files)),
      encoder_(std::move(encoder)),
      config_(config) {
  config_.check();
}

std::unique_ptr<RecordStream> WindowRecords::open() const {
  return std::make_unique<WindowStream>(column_, files_, encoder_, config_);
}

uint64_t WindowRecords::fingerprint() const {
  Hash hash;
  hash.add(column_);
  add_to(hash, files_, encoder_);
  const uint64_t parts[] = {config_.context, config_.overlap};
  hash.add(bytes_of<uint64_t>(parts));
  return hash.value();
}

std::string WindowRecords::explain_empty(const CorpusCounts& counts) const {
  return explain_no_documents(files_, counts);
}

TeacherRows window_rows(const Tokens& windows, std::span<const int32_t> contexts, int32_t ignored) {
  if (windows.count() != contexts.size()) {
    throw DataError("windows: {} of them, but {} contexts", windows.count(), contexts.size());
  }
  TokenLines inputs;
  std::vector<int32_t> labels;
  for (size_t i = 0; i < windows.count(); ++i) {
    const std::span<const int32_t> ids = windows.sequence(i);
    const auto context = static_cast<size_t>(std::max(contexts[i], 1));
    if (ids.empty()) throw DataError("windows: window {} is empty", i);
    inputs.add(ids.first(ids.size() - 1));
    for (size_t at = 1; at < ids.size(); ++at) labels.push_back(at < context ? ignored : ids[at]);
  }
  return {inputs.tokens(), Tensor::ids(labels, {labels.size()})};
}

}  // namespace attend
