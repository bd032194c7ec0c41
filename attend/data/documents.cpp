#include "attend/data/documents.h"

#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/rng.h"

namespace attend {
namespace {

constexpr Named<DocumentKind> kDocumentKinds[] = {
    {DocumentKind::kFile, "file"}, {DocumentKind::kLine, "line"}, {DocumentKind::kBlank, "blank"}};

// Not the run's seed: what is held out is the same in every run.
constexpr RandomStream kHeldOutDocuments(0x68656c64, 0);

bool blank_document(std::string_view text) {
  return text.find_first_not_of(" \t\v\f\r\n") == text.npos;
}

std::unique_ptr<LineReader> lines_of(const DocumentFiles& files, size_t number) {
  const bool whole = files.documents != DocumentKind::kLine;
  return std::make_unique<LineReader>(files.files[number], files.longest_line, LongLines::kPassOver,
                                      whole ? LineEnds::kKept : LineEnds::kRemoved);
}

// Bytes of the lines that are read.
uint64_t text_bytes(const DocumentFiles& files, size_t number) {
  const auto reader = lines_of(files, number);
  uint64_t bytes = 0;
  while (reader->next()) bytes += reader->line().size();
  return bytes;
}

}  // namespace

std::string_view name_of(DocumentKind kind) { return name_from_value(kDocumentKinds, kind); }

DocumentReader::DocumentReader(DocumentFiles files) : files_(std::move(files)) {
  if (!(files_.held_out >= 0 && files_.held_out < 1)) {
    throw ConfigError("documents: a held-out share of {} is not within [0, 1)", files_.held_out);
  }
  if (files_.files.empty()) throw ConfigError("documents: no file was given");
  if (files_.part == TextPart::kAll) files_.held_out = 0;
}

bool DocumentReader::next() {
  while (next_line()) {
    if (file_->too_long()) {
      ++counts_.too_long;
      continue;
    }
    const std::string_view line = file_->line();
    const bool is_blank = blank_document(line);
    const uint64_t at = std::exchange(bytes_, bytes_ + line.size());
    if (is_blank && files_.documents != DocumentKind::kFile) {
      if (files_.documents == DocumentKind::kLine) ++counts_.empty;
      inside_ = false;
      continue;
    }
    file_has_lines_ = true;
    if (files_.documents == DocumentKind::kFile && !last_part_ && files_.held_out > 0 &&
        at >= cut_) {
      last_part_ = true;
      inside_ = false;
    }
    const bool first = !inside_ || files_.documents == DocumentKind::kLine;
    inside_ = true;
    if (!wanted(first)) continue;
    begins_ = first;
    text_ = line;
    counts_.records += first ? 1 : 0;
    return true;
  }
  return false;
}

RecordCounts DocumentReader::counts() const {
  RecordCounts counts = counts_;
  if (file_) counts.text += file_->counts();
  return counts;
}

bool DocumentReader::next_line() {
  if (ended_) return false;
  while (!file_ || !file_->next()) {
    if (!next_file()) return false;
  }
  return true;
}

bool DocumentReader::next_file() {
  if (file_ && files_.documents == DocumentKind::kFile && !file_has_lines_) ++counts_.empty;
  ended_ = opened_ == files_.files.size();
  if (ended_) return false;
  if (file_) counts_.text += file_->counts();
  if (files_.documents == DocumentKind::kFile && files_.held_out > 0) {
    const auto all = static_cast<double>(text_bytes(files_, opened_));
    cut_ = static_cast<uint64_t>(all * (1 - files_.held_out));
  }
  file_ = lines_of(files_, opened_++);
  bytes_ = 0;
  inside_ = file_has_lines_ = last_part_ = false;
  return true;
}

bool DocumentReader::wanted(bool begins) {
  if (begins) {
    const uint64_t number = document_++;
    kept_ = files_.documents == DocumentKind::kFile
                ? !last_part_
                : double{kHeldOutDocuments.uniform(number)} >= files_.held_out;
  }
  return files_.part == TextPart::kAll || kept_ == (files_.part == TextPart::kKept);
}

}  // namespace attend
