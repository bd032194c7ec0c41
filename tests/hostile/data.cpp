// Texts, also compressed; links of words; corpora.
#include <zlib.h>

#include <cstring>

#include "attend/base/hash.h"
#include "attend/data/corpus.h"
#include "attend/data/corpus_file.h"
#include "attend/metrics/alignment.h"
#include "cli/text_input.h"
#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

const Reader kGzip{
    .file = "text.gz",
    .open = [](const Path& directory) { cli::read_lines(directory / "text.gz"); },
    .arguments = {"evaluate", "--hypotheses", "@/text.gz", "--references", "@/text.gz"}};
const Reader kText{
    .file = "text.txt",
    .open = [](const Path& directory) { cli::read_lines(directory / "text.txt"); },
    .arguments = {"evaluate", "--hypotheses", "@/text.txt", "--references", "@/text.txt"}};
const Reader kLinks{
    .file = "links.txt",
    .open =
        [](const Path& directory) {
          for (const std::string& line : cli::read_lines(directory / "links.txt")) {
            try {
              parse_links(line);
            } catch (const FormatError& error) {
              throw FormatError("links.txt:1: {}", error.what());
            }
          }
        },
    .arguments = {"evaluate", "--alignments", "@/links.txt", "--gold", "@/links.txt"}};
const Reader kCorpus{.file = "train.corpus", .open = [](const Path& directory) {
                       const Corpus corpus(directory / "train.corpus");
                       std::vector<int32_t> ids;
                       for (size_t i = 0; i < corpus.size(); ++i) corpus.append_source(i, ids);
                     }};

std::string gzip(std::string_view content) {
  z_stream stream{};
  constexpr int kGzipFormat = 16;
  deflateInit2(&stream, 6, Z_DEFLATED, kGzipFormat + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A corpus of one pair, 2 tokens and 1, with hashes that fit whatever `change` made of it.
std::string corpus(const std::function<void(CorpusFooter&, PairLengths&)>& change,
                   std::vector<uint16_t> ids = {3, 4, 3, 0}) {
  PairLengths lengths{2, 1};
  const uint64_t begin = 0, line = 1;
  CorpusFooter footer{};
  footer.version = kCorpusVersion;
  footer.id_bytes = 2;
  footer.pairs = 1;
  footer.ids = 3;
  footer.source_vocabulary = footer.target_vocabulary = 10;
  std::memcpy(footer.magic, kCorpusMagic.data(), sizeof footer.magic);
  change(footer, lengths);
  const auto bytes_of = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::string table = bytes_of(lengths) + bytes_of(begin) + bytes_of(line);
  footer.table_hash = hash_of(table);
  footer.footer_hash = hash_of(bytes_of(footer).substr(0, offsetof(CorpusFooter, footer_hash)));
  const std::string text(reinterpret_cast<const char*>(ids.data()), 2 * ids.size());
  return std::string(kCorpusMagic) + text + table + bytes_of(footer);
}

std::vector<Case> text_cases() {
  return {
      {"gzip-of-one-line", &kGzip, [] { return repeated(gzip(std::string(1 << 20, 'a')), 1000); },
       "text.gz:1: the line is over 1048576 bytes"},
      {"gzip-of-zeros", &kGzip, [] { return repeated(gzip(std::string(1 << 20, '\0')), 1000); },
       "text.gz:1: the line is over 1048576 bytes"},
      {"gzip-cut-off", &kGzip, [] { return gzip(std::string(1000, 'a')).substr(0, 20); },
       "the compressed data is cut off"},
      {"gzip-damaged", &kGzip,
       [] {
         std::string bytes = gzip("some text that is long enough to be damaged\n");
         bytes[20] = static_cast<char>(bytes[20] ^ 0x55);
         return bytes;
       },
       "the compressed data is damaged"},
      {"gzip-that-is-none", &kGzip, [] { return "plain text\n"; }, "not compressed by gzip"},
      {"gzip-of-nothing", &kGzip, [] { return gzip(""); }, "the file has no lines"},
      {"text-of-one-line", &kText, [] { return std::string(3 << 20, 'a'); },
       "text.txt:1: the line is over 1048576 bytes"},
      {"text-of-zeros", &kText, [] { return ""; }, "text.txt:1: the line is over 1048576 bytes",
       10'000'000'000},
      {"text-utf-16", &kText,
       [] {
         return "\xff\xfe"
                "a";
       },
       "UTF-16"},
      {"text-of-nothing", &kText, [] { return ""; }, "the file has no lines"},
      {"links-that-are-none", &kLinks, [] { return "0-1 0-\x1b[2J\n"; },
       R"('0-\x1b[2J' is no link)"},
      {"links-past-32-bits", &kLinks, [] { return "0-99999999999\n"; },
       "'0-99999999999' is no link"},
      {"links-long", &kLinks, [] { return std::string(1'000'000, '7') + "\n"; },
       "'" + std::string(60, '7') + "...' is no link"},
  };
}

std::vector<Case> corpus_cases() {
  const auto nothing = [](CorpusFooter&, PairLengths&) {};
  return {
      {"corpus-empty", &kCorpus, [] { return ""; }, "not a corpus"},
      {"corpus-cut-off", &kCorpus,
       [=] {
         const std::string bytes = corpus(nothing);
         return bytes.substr(0, bytes.size() - 8) + "12345678";
       },
       "it is cut off"},
      {"corpus-version-9", &kCorpus,
       [] { return corpus([](CorpusFooter& f, PairLengths&) { f.version = 9; }); }, "version 9"},
      {"corpus-of-2-to-63-ids", &kCorpus,
       [] { return corpus([](CorpusFooter& f, PairLengths&) { f.ids = uint64_t{1} << 63; }); },
       "its size does not fit"},
      {"corpus-of-2-to-60-pairs", &kCorpus,
       [] { return corpus([](CorpusFooter& f, PairLengths&) { f.pairs = uint64_t{1} << 60; }); },
       "its size does not fit"},
      {"corpus-ids-of-3-bytes", &kCorpus,
       [] { return corpus([](CorpusFooter& f, PairLengths&) { f.id_bytes = 3; }); },
       "its size does not fit"},
      {"corpus-pair-past-the-end", &kCorpus,
       [] { return corpus([](CorpusFooter&, PairLengths& l) { l.source = 4'000'000'000; }); },
       "pair 0 is past the end"},
      {"corpus-id-past-the-vocabulary", &kCorpus,
       [=] {
         return corpus(nothing, {3, 60'000, 3, 0});
       },
       "id 60000 in a vocabulary of 10"},
  };
}

}  // namespace

std::vector<Case> data_cases() {
  std::vector<Case> all = text_cases();
  for (const Case& one : corpus_cases()) all.push_back(one);
  return all;
}

}  // namespace attend::hostile
