// Plain text as documents: whole files, lines, or paragraphs with blank lines between them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/records.h"

namespace attend {

// What a document is.
enum class DocumentKind {
  kFile,   // each file
  kLine,   // each line, without its end
  kBlank,  // lines up to a blank one
};
std::string_view name_of(DocumentKind kind);

// Files of text, and which part of them to read.
struct DocumentFiles {
  std::vector<std::filesystem::path> files;
  DocumentKind documents = DocumentKind::kFile;
  // Share of the text that is held out, from 0 to 1: the end of each file, or lines and paragraphs
  // chosen at random, always the same ones.
  double held_out = 0;
  TextPart part = TextPart::kAll;
  size_t longest_line = kLongestLine;  // bytes; longer ones are left out and counted
};

// Reads documents line by line, so that a document may be larger than memory.
class DocumentReader {
 public:
  // Throws ConfigError for a share out of range, IoError for a file that cannot be read.
  explicit DocumentReader(DocumentFiles files);

  // Goes to the next line of a document; false at the end of the last.
  bool next();

  // The line, valid until next(). Lines of files and paragraphs have their ends as in the file: "
  // ", "\r
  // ", or none at the end of a file.
  std::string_view text() const { return text_; }
  bool begins() const { return begins_; }          // whether it is the first line of a document
  size_t line() const { return file_->number(); }  // of its file, from 1
  // The name of the file, and its number among the files, from 0.
  const std::string& file() const { return file_->name(); }
  size_t file_number() const { return opened_ - 1; }

  // `records` are documents read, `empty` are empty files and blank lines, `too_long` are lines
  // left out.
  RecordCounts counts() const;

 private:
  bool next_line();
  bool next_file();
  bool wanted(bool begins);

  DocumentFiles files_;
  size_t opened_ = 0;  // files
  std::unique_ptr<LineReader> file_;
  uint64_t bytes_ = 0, cut_ = 0;  // of this file so far, and where what is held out begins
  bool ended_ = false;            // all files
  bool inside_ = false;           // a document
  bool file_has_lines_ = false;
  bool last_part_ = false;  // of this file: what is held out
  bool kept_ = true;        // the document that this line is of
  uint64_t document_ = 0;   // its number, whether it is wanted or not
  std::string text_;
  bool begins_ = false;
  RecordCounts counts_;
};

}  // namespace attend
