// Text as people have it, plain or compressed: lines, records of two columns, documents.
#include "attend/data/lines.h"

#include <zlib.h>

#include "attend/base/utf8.h"
#include "attend/data/documents.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

constexpr size_t kLongest = 64;         // bytes of a line, so that some are too long
constexpr size_t kMostLines = 100'000;  // a small file may be many when it is unpacked

std::string gzip(std::string_view text) {
  const Scratch scratch;
  const std::string path = (scratch.path() / "seed.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return contents(path);
}

}  // namespace

void take_lines(std::string_view bytes) {
  static const Scratch scratch;
  const std::filesystem::path path = scratch.write("text", bytes);
  LineReader lines(path, kLongest);
  while (lines.number() < kMostLines && lines.next()) {
    require(valid_utf8(lines.line()), "a line is UTF-8");
    require(lines.line().size() <= 3 * kLongest, "a line is no longer than asked for");
  }
  for (const DocumentKind kind : {DocumentKind::kFile, DocumentKind::kLine, DocumentKind::kBlank}) {
    DocumentReader documents({.files = {path}, .documents = kind, .longest_line = kLongest});
    for (size_t count = 0; count < kMostLines && documents.next(); ++count) {
      require(count > 0 || documents.begins(), "the first line begins a document");
      require(documents.line() <= kMostLines || count > 0, "lines are counted");
    }
  }
  RecordReader columns(two_columns("source", "target", path, ""), kLongest);
  while (columns.line() < kMostLines && columns.next()) {
    require(!columns.text(0).empty() && !columns.text(1).empty(), "a pair has two sides");
  }
}

std::vector<std::string> lines_seeds() {
  const std::string text = "one\ttwo\r\n\xEF\xBB\xBFthree\tf\xFFour\n\nno newline\tat the end";
  return {text,
          gzip(text),
          gzip(text) + gzip("a\tb\n"),
          "\xFF\xFE"
          "a\0b\0",
          std::string("a\0b\tc\n", 6),
          gzip(std::string(3000, 'a')),
          std::string(200, 'x') + "\n\n"};
}

}  // namespace attend::fuzz
