// Pairs of id sequences in one file, made once from text. Ids are read when they are asked for, so
// that a corpus may be larger than memory; 16 bytes a pair are held. The file (little-endian):
//
//   "ATTENDPC"                  8 bytes
//   ids                         u16 or u32: source, target, source, target ...
//   zeros                       up to a multiple of 8 bytes
//   lengths                     u32 source, u32 target of each pair
//   begins                      u64 of each pair: the place of its first id
//   lines                       u64 of each pair: the line of the text, from 1
//   footer                      CorpusFooter: what is in the file, what it was made from, checksums
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/data/pairs.h"

namespace attend {

// How one side of a pair becomes ids: a tokenizer, seen from here.
struct TextEncoder {
  std::function<std::vector<int32_t>(std::string_view)> encode;  // called by many threads
  size_t vocabulary = 0;                                         // ids are below this
  uint64_t fingerprint = 0;                                      // of all that encode depends on
};

struct CorpusSpec {
  PairFiles files;
  TextEncoder source, target;
  size_t longest_source = 512, longest_target = 512;  // tokens; longer pairs are left out
  size_t longest_line = kLongestLine;                 // bytes
};

struct CorpusCounts {
  PairCounts read;
  uint64_t empty = 0;                               // left out: no token on a side
  uint64_t too_long = 0;                            // left out: more tokens than allowed on a side
  uint64_t source_tokens = 0, target_tokens = 0;    // of what is in
  uint64_t source_unknown = 0, target_unknown = 0;  // of these, not in the vocabulary

  bool operator==(const CorpusCounts&) const = default;
};

struct PairLengths {
  uint32_t source, target;  // tokens, without start and end
};

struct CorpusFooter {
  uint32_t version, id_bytes;
  uint64_t spec;  // a fingerprint of the text, the tokenizers and the limits
  uint64_t pairs, ids;
  uint64_t source_vocabulary, target_vocabulary;
  CorpusCounts counts;
  uint64_t table_hash, footer_hash;  // of lengths, begins and lines; of all above
  char magic[8];
};

class Corpus {
 public:
  // Checks all but the ids, which are checked as they are read. Throws FormatError, and IoError
  // where the system refuses.
  explicit Corpus(const std::filesystem::path& file);

  size_t size() const { return lengths_.size(); }
  std::span<const PairLengths> lengths() const { return lengths_; }
  size_t line(size_t pair) const { return lines_[pair]; }  // of the text, from 1
  // Without start and end, to the end of `ids`. Throws FormatError for what cannot be an id, and
  // IoError where the file cannot be read any more, or has been cut off.
  void append_source(size_t pair, std::vector<int32_t>& ids) const;
  void append_target(size_t pair, std::vector<int32_t>& ids) const;

  const CorpusCounts& counts() const { return footer_.counts; }
  uint64_t spec() const { return footer_.spec; }
  size_t source_vocabulary() const { return footer_.source_vocabulary; }
  size_t target_vocabulary() const { return footer_.target_vocabulary; }

 private:
  void read_footer();
  void read_table();
  uint64_t begin_of(size_t pair) const;
  void append(uint64_t begin, size_t count, uint64_t vocabulary, std::vector<int32_t>& ids) const;
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const;

  FileReader file_;
  CorpusFooter footer_{};
  std::vector<PairLengths> lengths_;
  std::vector<uint64_t> begins_;  // of every kBeginEvery-th pair
  std::vector<uint64_t> lines_;
};

// Changes with any change of the text files, tokenizers or limits.
uint64_t fingerprint(const CorpusSpec& spec);

// Writes the file anew; the text streams through, 16 bytes a pair are held. The same bytes for any
// number of threads. Throws DataError if no pair is left.
void build_corpus(const CorpusSpec& spec, const std::filesystem::path& file);

// Uses the file if it is whole and was made from this spec, and builds it otherwise.
Corpus open_corpus(const CorpusSpec& spec, const std::filesystem::path& file);

}  // namespace attend
