#include "attend/data/shifted_windows.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/data/windows.h"

namespace attend {
namespace {

// Far from the streams of models, and from those of the order of records.
RandomStream shift_stream(uint64_t seed, uint64_t epoch) {
  return {seed, (uint64_t{3} << 62) | epoch};
}

[[noreturn]] void fail(size_t record) {
  throw FormatError(
      "corpus: window {} does not follow the one before it; delete the corpus, and it will be made "
      "again",
      record);
}

}  // namespace

ShiftedWindows::ShiftedWindows(const Corpus& corpus, std::string_view column, int32_t start)
    : corpus_(corpus),
      column_(corpus.column(column)),
      context_column_(corpus.column(attend::context_column(column))),
      start_(start),
      context_(corpus.columns()[context_column_].vocabulary - 1),
      rows_(corpus.lengths().columns),
      parts_(corpus.lengths().parts) {
  find_documents(start);
  check_documents();
}

// Every window but the first of a document repeats as many tokens.
void ShiftedWindows::find_documents(int32_t start) {
  std::vector<int32_t> ids;
  bool known = false;
  for (size_t record = 0; record < corpus_.size(); ++record) {
    ids.clear();
    corpus_.append(record, column_, ids);
    const bool begins = !ids.empty() && ids.front() == start;
    if (begins) documents_.push_back({record, 0});
    if (documents_.empty()) fail(record);
    if (!begins && !known) {
      std::vector<int32_t> context;
      corpus_.append(record, context_column_, context);
      const auto repeated = static_cast<size_t>(context.front());
      if (repeated < 1 || repeated > context_) fail(record);
      overlap_ = repeated - 1;
      known = true;
    }
    const size_t repeated = begins ? 1 : overlap_ + 1;
    if (ids.size() <= repeated) fail(record);
    documents_.back().tokens += ids.size() - repeated;
  }
}

// So that the window of a token follows from its number.
void ShiftedWindows::check_documents() const {
  for (size_t i = 0; i < documents_.size(); ++i) {
    const size_t first = documents_[i].record;
    const size_t end = i + 1 < documents_.size() ? documents_[i + 1].record : corpus_.size();
    for (size_t record = first; record < end; ++record) {
      const size_t length = corpus_.length(record, column_);
      const bool fits = record + 1 < end ? length == context_ + 1 : length <= context_ + 1;
      if (!fits) fail(record);
    }
  }
}

ShiftedWindows::Epoch ShiftedWindows::epoch(uint64_t seed, uint64_t number) const {
  const RandomStream random = shift_stream(seed, number);
  Epoch made;
  made.windows_ = this;
  made.parts_ = parts_;
  uint64_t windows = 0;
  size_t part = 0;
  for (size_t i = 0; i < documents_.size(); ++i) {
    while (part < parts_.size() && documents_[i].record >= parts_[part].end) {
      made.parts_[part++].end = windows;
    }
    const uint64_t tokens = documents_[i].tokens;
    const uint64_t shift = tokens > context_ ? random.below(i, stride()) : 0;
    const uint64_t first = std::min<uint64_t>(tokens, context_ - shift);
    made.firsts_.push_back(windows);
    made.sizes_.push_back(static_cast<uint32_t>(first));
    const auto add = [&](uint64_t repeated, uint64_t predicted) {
      std::vector<uint32_t> items(rows_.size(), 1);
      items[column_] = static_cast<uint32_t>(repeated + predicted);
      made.lengths_.insert(made.lengths_.end(), items.begin(), items.end());
      ++windows;
    };
    add(1, first);
    for (uint64_t at = first; at < tokens; at += stride()) {
      add(overlap_ + 1, std::min<uint64_t>(stride(), tokens - at));
    }
  }
  for (; part < parts_.size(); ++part) made.parts_[part].end = windows;
  return made;
}

ShiftedWindows::Epoch::Part ShiftedWindows::Epoch::part(uint32_t window) const {
  const auto after = std::ranges::upper_bound(firsts_, uint64_t{window});
  const auto document = static_cast<size_t>(after - firsts_.begin()) - 1;
  const uint64_t number = window - firsts_[document], first = sizes_[document];
  if (number == 0) return {document, 0, first};
  const uint64_t begin = first + (number - 1) * windows_->stride();
  const uint64_t tokens = windows_->documents_[document].tokens;
  return {document, begin, std::min<uint64_t>(begin + windows_->stride(), tokens)};
}

Batch ShiftedWindows::Epoch::batch(std::span<const uint32_t> windows) const {
  const ShiftedWindows& all = *windows_;
  std::vector<int32_t> ids, lengths, contexts;
  Batch made(windows.size());
  for (const uint32_t window : windows) {
    const Part found = part(window);
    const Document& document = all.documents_[found.document];
    const size_t before = ids.size();
    const uint64_t repeated = found.begin == 0 ? 1 : all.overlap_ + 1;
    if (found.begin == 0) ids.push_back(all.start_);
    all.append(document, found.begin == 0 ? 0 : found.begin - repeated, found.end, ids);
    lengths.push_back(static_cast<int32_t>(ids.size() - before));
    contexts.push_back(static_cast<int32_t>(repeated));
    made.lines.push_back(all.corpus_.line(all.record_of(document, found.begin)));
  }
  const auto name = [&](size_t column) {
    return std::string(all.corpus_.columns()[column].name());
  };
  made.add(name(all.column_), Tokens(ids, Packing(lengths)));
  made.add(name(all.context_column_), Tokens(contexts, Packing::even(contexts.size(), 1)));
  return made;
}

size_t ShiftedWindows::record_of(const Document& document, uint64_t token) const {
  return document.record + (token < context_ ? 0 : 1 + (token - context_) / stride());
}

void ShiftedWindows::append(const Document& document, uint64_t begin, uint64_t end,
                            std::vector<int32_t>& ids) const {
  std::vector<int32_t> stored;
  while (begin < end) {
    const size_t record = record_of(document, begin), number = record - document.record;
    const uint64_t first = number == 0 ? 0 : context_ + (number - 1) * stride();
    stored.clear();
    corpus_.append(record, column_, stored);
    const auto predicted = std::span(stored).subspan(number == 0 ? 1 : overlap_ + 1);
    const uint64_t last = std::min<uint64_t>(end, first + predicted.size());
    const auto some = predicted.subspan(begin - first, last - begin);
    ids.insert(ids.end(), some.begin(), some.end());
    begin = last;
  }
}

}  // namespace attend
