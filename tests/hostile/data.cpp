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
                       for (size_t i = 0; i < corpus.size(); ++i) {
                         for (size_t c = 0; c < corpus.columns().size(); ++c) {
                           corpus.append(i, c, ids);
                         }
                       }
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

// What a corpus of one pair says of itself, 2 tokens and 1, before it is sealed.
struct Parts {
  CorpusFooter footer{};
  uint32_t lengths[2] = {2, 1};
  ColumnDescriptor columns[2] = {ColumnDescriptor::ids("source", ColumnKind::kTokens, 10),
                                 ColumnDescriptor::ids("target", ColumnKind::kTokens, 10)};
  uint64_t ends[1] = {1};  // of its parts
  std::vector<uint16_t> ids = {3, 4, 3};
};

// With hashes that fit whatever `change` made of it.
std::string corpus(const std::function<void(Parts&)>& change) {
  Parts parts;
  CorpusFooter& footer = parts.footer;
  footer.version = kCorpusVersion;
  footer.columns = 2;
  footer.records = 1;
  footer.value_bytes = 6;
  footer.parts = 1;
  std::memcpy(footer.magic, kCorpusMagic.data(), sizeof footer.magic);
  change(parts);
  const auto text_of = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const uint64_t line = 1;
  const std::string table =
      text_of(parts.lengths) + text_of(line) + text_of(parts.columns) + text_of(parts.ends);
  footer.table_hash = hash_of(table);
  footer.footer_hash = hash_of(text_of(footer).substr(0, offsetof(CorpusFooter, footer_hash)));
  const std::string values(reinterpret_cast<const char*>(parts.ids.data()), 2 * parts.ids.size());
  return std::string(kCorpusMagic) + values + table + text_of(footer);
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
  const auto changed = [](const std::function<void(Parts&)>& change) {
    return [=] { return corpus(change); };
  };
  return {
      {"corpus-that-is-one", &kCorpus, changed([](Parts&) {}), ""},
      {"corpus-empty", &kCorpus, [] { return ""; }, "not a corpus"},
      {"corpus-of-an-earlier-version", &kCorpus,
       [] { return "ATTENDPC" + corpus([](Parts&) {}).substr(8); }, "not a corpus"},
      {"corpus-cut-off", &kCorpus,
       [] {
         const std::string bytes = corpus([](Parts&) {});
         return bytes.substr(0, bytes.size() - 8) + "12345678";
       },
       "it is cut off"},
      {"corpus-version-9", &kCorpus, changed([](Parts& p) { p.footer.version = 9; }), "version 9"},
      {"corpus-of-2-to-63-bytes", &kCorpus,
       changed([](Parts& p) { p.footer.value_bytes = uint64_t{1} << 63; }),
       "its size does not fit"},
      {"corpus-of-2-to-60-records", &kCorpus,
       changed([](Parts& p) { p.footer.records = uint64_t{1} << 60; }), "its size does not fit"},
      {"corpus-of-no-columns", &kCorpus, changed([](Parts& p) { p.footer.columns = 0; }),
       "it has 0 columns"},
      {"corpus-of-2-to-32-columns", &kCorpus,
       changed([](Parts& p) { p.footer.columns = 4'294'967'295; }), "it has 4294967295 columns"},
      {"corpus-of-more-columns", &kCorpus, changed([](Parts& p) { p.footer.columns = 64; }),
       "its size does not fit"},
      {"corpus-ids-of-3-bytes", &kCorpus, changed([](Parts& p) { p.columns[0].element_bytes = 3; }),
       "column source does not hold ids"},
      {"corpus-ids-of-no-bytes", &kCorpus,
       changed([](Parts& p) { p.columns[0].element_bytes = 0; }),
       "column source does not hold ids"},
      {"corpus-items-of-2-to-62", &kCorpus,
       changed([](Parts& p) { p.columns[1].item_values = uint64_t{1} << 62; }),
       "column target does not hold ids"},
      {"corpus-vocabulary-of-2-to-63", &kCorpus,
       changed([](Parts& p) { p.columns[1].vocabulary = uint64_t{1} << 63; }),
       "column target does not hold ids"},
      {"corpus-kind-9", &kCorpus, changed([](Parts& p) { p.columns[1].kind_value = 9; }),
       "column target is of kind 9"},
      {"corpus-name-without-end", &kCorpus,
       changed([](Parts& p) { std::memset(p.columns[0].name_bytes, 'n', 32); }),
       "a column has no name"},
      {"corpus-escape-in-name", &kCorpus, changed([](Parts& p) {
         std::memcpy(p.columns[0].name_bytes, "\x1b[2J", 5);
         p.columns[0].kind_value = 9;
       }),
       R"(column \x1b[2J is of kind 9)"},
      {"corpus-columns-of-one-name", &kCorpus,
       changed([](Parts& p) { p.columns[1] = p.columns[0]; }), "two columns 'source'"},
      {"corpus-label-of-two", &kCorpus, changed([](Parts& p) {
         p.columns[0].kind_value = static_cast<uint32_t>(ColumnKind::kLabel);
       }),
       "record 0 has 2 values in column"},
      {"corpus-number-of-two", &kCorpus,
       changed([](Parts& p) { p.columns[0] = ColumnDescriptor::numbers("source"); }),
       "record 0 has 2 values in column source"},
      {"corpus-number-of-2-bytes", &kCorpus, changed([](Parts& p) {
         p.columns[1].kind_value = static_cast<uint32_t>(ColumnKind::kNumber);
       }),
       "column target does not hold ids or numbers"},
      {"corpus-tags-past-their-vocabulary", &kCorpus, changed([](Parts& p) {
         p.columns[0].kind_value = static_cast<uint32_t>(ColumnKind::kLabels);
         p.ids[1] = 60'000;
       }),
       "id 60000 in a vocabulary of 10 (column source)"},
      {"corpus-of-no-parts", &kCorpus, changed([](Parts& p) { p.footer.parts = 0; }),
       "its size does not fit"},
      {"corpus-part-past-the-end", &kCorpus, changed([](Parts& p) { p.ends[0] = 2; }),
       "its parts are not those of 1 records"},
      {"corpus-record-past-the-end", &kCorpus,
       changed([](Parts& p) { p.lengths[0] = 4'000'000'000; }), "record 0 is past the end"},
      {"corpus-record-too-short", &kCorpus, changed([](Parts& p) { p.lengths[1] = 0; }),
       "its records take 4 bytes, but it has 6"},
      {"corpus-id-past-the-vocabulary", &kCorpus, changed([](Parts& p) { p.ids[1] = 60'000; }),
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
