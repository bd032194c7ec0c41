// The corpus file. Half of the inputs get right checksums, so that what comes behind them is met.
#include "attend/data/corpus.h"

#include <cstring>

#include "attend/base/hash.h"
#include "attend/data/corpus_file.h"
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
  const uint64_t table = footer.pairs * kPairBytes;
  if (footer.pairs < at && table <= at) {
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
  for (size_t pair = 0; pair < corpus.size(); ++pair) {
    corpus.append_source(pair, ids);
    corpus.append_target(pair, ids);
    corpus.line(pair);
  }
  require(ids.size() <= bytes.size(), "there are no more ids than bytes");
}

std::vector<std::string> corpus_seeds() {
  const Scratch scratch;
  CorpusSpec spec;
  spec.files = {scratch.write("a", "one\ntwo\nfour\n"), scratch.write("b", "x\nyy\n zzz\n")};
  std::vector<std::string> seeds;
  for (const size_t vocabulary : {256, 100'000}) {
    spec.source = spec.target = {
        [](std::string_view line) { return std::vector<int32_t>(line.begin(), line.end()); },
        vocabulary, 7};
    build_corpus(spec, scratch.path() / "corpus");
    for (const char mode : {'\0', '\1'}) {
      seeds.push_back(mode + contents(scratch.path() / "corpus"));
    }
  }
  return seeds;
}

}  // namespace attend::fuzz
