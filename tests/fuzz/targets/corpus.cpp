// The corpus file. Half of the inputs get right checksums, so that what comes behind them is met.
#include "attend/data/corpus.h"

#include <cstring>
#include <numeric>

#include "attend/base/hash.h"
#include "attend/data/corpus_file.h"
#include "attend/data/line_records.h"
#include "attend/data/text_pieces.h"
#include "attend/data/windows.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

std::string sealed(std::string bytes) {
  CorpusFooter footer{};
  if (bytes.size() < sizeof footer) return bytes;
  const size_t at = bytes.size() - sizeof footer;
  std::memcpy(&footer, bytes.data() + at, sizeof footer);
  const uint64_t columns = footer.columns % (kMostColumns + 1);
  const uint64_t parts = std::min<uint64_t>(footer.parts, at) * sizeof(uint64_t);
  const uint64_t table =
      footer.records * table_bytes(columns) + columns * sizeof(ColumnDescriptor) + parts;
  if (footer.records < at && table <= at) {
    footer.table_hash = hash_of(std::string_view(bytes).substr(at - table, table));
    std::memcpy(bytes.data() + at, &footer, sizeof footer);
  }
  const size_t hashed = offsetof(CorpusFooter, footer_hash);
  footer.footer_hash = hash_of(std::string_view(bytes).substr(at, hashed));
  std::memcpy(bytes.data() + at, &footer, sizeof footer);
  return bytes;
}

}  // namespace

void take_corpus(std::string_view bytes) {
  static const Scratch scratch;
  if (bytes.empty()) return;
  const std::string rest(bytes.substr(1));
  const Corpus corpus(scratch.write("train.corpus", bytes[0] % 2 == 0 ? rest : sealed(rest)));
  std::vector<int32_t> ids;
  const RecordLengths lengths = corpus.lengths();
  size_t items = 0;
  for (size_t record = 0; record < corpus.size(); ++record) {
    for (size_t column = 0; column < corpus.columns().size(); ++column) {
      items += lengths[record][column];
      corpus.append(record, column, ids);
    }
    corpus.line(record);
    lengths.rows(record);
  }
  require(corpus.parts().back() == corpus.size(), "the last part ends with the last record");
  require(ids.size() == items, "a record has the items that its lengths say");
  std::vector<uint32_t> all(corpus.size());
  std::iota(all.begin(), all.end(), 0u);
  require(make_batch(corpus, all).lines.size() == corpus.size(), "a batch has all records");
  require(ids.size() <= bytes.size(), "there are no more ids than bytes");
  corpus.column("source");  // which it may lack
}

std::vector<std::string> corpus_seeds() {
  const Scratch scratch;
  const auto first = scratch.write("a", "one\ntwo\nfour\n");
  const auto second = scratch.write("b", "x\nyy\n zzz\n");
  const auto numbers = scratch.write("c", "1\n-2.5\n1e3\n");
  std::vector<std::string> seeds;
  const auto add = [&](const RecordSource& source) {
    build_corpus(source, scratch.path() / "corpus");
    for (const char mode : {'\0', '\1'}) {
      seeds.push_back(mode + contents(scratch.path() / "corpus"));
    }
  };
  for (const size_t vocabulary : {256, 100'000}) {
    const TextEncoder encoder{
        [](std::string_view line) { return std::vector<int32_t>(line.begin(), line.end()); },
        vocabulary, 7};
    const TextEncoder label{
        [](std::string_view line) { return std::vector<int32_t>{line.front()}; }, 256, 8};
    add(LineRecords({{{"source", first}, encoder}, {{"target", second}, encoder}}));
    add(LineRecords({{{"text", first}, encoder}, {{"label", second}, label, ColumnKind::kLabel}}));
    add(LineRecords({{.text = {"text", first}, .encoder = encoder, .by_words = true},
                     {.text = {"tags", second}, .encoder = label, .kind = ColumnKind::kLabels}}));
    add(LineRecords({{{"text", first}, encoder}, {{"number", numbers}, {}, ColumnKind::kNumber}}));
    add(TextPieces({"text", "pair"}, {{first, second}}, encoder, {.longest = 4}));
    add(WindowRecords("text", {{first, second}}, encoder, {.context = 4, .overlap = 1}));
  }
  return seeds;
}

}  // namespace attend::fuzz
