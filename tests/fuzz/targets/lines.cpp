// Text as people have it, plain or compressed: lines, records of two columns, documents.
#include "attend/data/lines.h"

#include <zlib.h>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/data/documents.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

constexpr size_t kLongest = 64;        // bytes of a line, so that some are too long
constexpr size_t kMostLines = 20'000;  // a small file may be many when it is unpacked

std::string gzip(std::string_view text) {
  const Scratch scratch;
  const std::string path = (scratch.path() / "seed.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return contents(path);
}

// Two files of which line n belongs to line n; the other one has two lines.
void read_beside(const std::filesystem::path& path) {
  static const Scratch scratch;
  static const std::filesystem::path other = scratch.write("other", "one\ntwo\n");
  try {
    RecordReader columns(two_columns("source", "target", path, other), kLongest);
    while (columns.line() < kMostLines && columns.next()) continue;
    require(columns.counts().records <= 2, "there are as many records as the shorter has lines");
  } catch (const DataError& error) {
    require(std::string_view(error.what()).find("lines but") != std::string_view::npos,
            "files that do not belong together are named with their lines");
  }
}

// Columns of the file: by place, and by a name that its first line may have.
void read_columns_of(const std::filesystem::path& path) {
  for (const char* column : {":1", ":2", ":two"}) {
    for (const LineEnds ends : {LineEnds::kRemoved, LineEnds::kKept}) {
      try {
        LineReader lines(path.string() + column, kLongest, LongLines::kPassOver, ends);
        while (lines.number() < kMostLines && lines.next()) {
          require(lines.line().find('\t') == std::string_view::npos, "a column has no tab");
          require(lines.lines_of_text() <= lines.number(), "the line of names is no text");
        }
      } catch (const DataError& error) {
        require(std::string_view(error.what()).find("column") != std::string_view::npos ||
                    std::string_view(error.what()).find("UTF-16") != std::string_view::npos,
                "a column that is missing is named");
      }
    }
  }
}

}  // namespace

void take_lines(std::string_view bytes) {
  static const Scratch scratch;
  // What is no gzip by its first byte, but by its name, is refused.
  const bool named = bytes.starts_with('z');
  const std::filesystem::path path = scratch.write(named ? "text.gz" : "text", bytes);
  LineReader lines(path, kLongest);
  while (lines.number() < kMostLines && lines.next()) {
    require(valid_utf8(lines.line()), "a line is UTF-8");
    require(lines.line().size() <= 3 * kLongest, "a line is no longer than asked for");
  }
  for (const DocumentKind kind : {DocumentKind::kFile, DocumentKind::kLine, DocumentKind::kBlank}) {
    const auto read = [&](TextPart part) {
      DocumentReader documents({.files = {path, path},
                                .documents = kind,
                                .held_out = 0.25,
                                .part = part,
                                .longest_line = kLongest});
      size_t count = 0;
      for (; count < kMostLines && documents.next(); ++count) {
        require(count > 0 || documents.begins(), "the first line begins a document");
        require(documents.line() <= kMostLines || count > 0, "lines are counted");
      }
      require(documents.counts().records <= count, "a document has a line");
      return count;
    };
    const size_t all = read(TextPart::kAll);
    const size_t parts = read(TextPart::kKept) + read(TextPart::kHeldOut);
    require(all == kMostLines || all == parts, "a line is kept or held out");
  }
  read_columns_of(path);
  read_beside(path);
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
          std::string(200, 'x') + "\n\n",
          gzip(text).substr(0, 40),
          "\x1F\x8B\x08 damaged",
          "z is no gzip",
          "a\tb\nc\td\n",
          "only one column\n",
          "one\ttwo\r\n\r\na\tb\r\n\tc"};
}

}  // namespace attend::fuzz
