// What a look at text tells before anything is trained on it: how much there is, how long its lines
// are, how often its words recur.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace attend {

// Of one column, over the records that were looked at. Lengths are in Unicode characters; words
// stand between white space.
struct ColumnProfile {
  std::string name;
  uint64_t characters = 0, words = 0;
  size_t distinct_characters = 0, distinct_words = 0, distinct_lines = 0;
  uint64_t new_words = 0;  // that first occur in the second half of the records
  size_t long_line = 0;    // characters: 99 of 100 lines are no longer
};

struct TextProfile {
  uint64_t records = 0;  // all there are
  uint64_t seen = 0;     // those that were looked at, the first ones
  uint64_t blank = 0;    // blank lines among them
  std::vector<ColumnProfile> columns;
  double shared_characters = 0;  // share of the second column's characters that the first has too
  double shared_words = 0;       // the same for words
  double repeats = 1;  // records of an epoch for each there is, where corpora have weights

  double mean_characters(size_t column) const;
  double mean_words(size_t column) const;
  // An estimate for all records, from those that were looked at.
  double all(uint64_t count) const;
  void set_records_of_epoch(double count) {
    if (records > 0) repeats = count / static_cast<double>(records);
  }
};

// Collects a profile, record by record. Past `limit` bytes of text it only counts records.
class TextProfiler {
 public:
  explicit TextProfiler(std::vector<std::string> columns, uint64_t limit = uint64_t{32} << 20);

  bool full() const { return bytes_ >= limit_; }
  void add(const std::vector<std::string_view>& texts);  // one for each column
  TextProfile profile() const;

 private:
  struct Column {
    ColumnProfile profile;
    std::unordered_map<size_t, uint64_t> words;  // by hash: the record that has it first
    std::unordered_map<char32_t, uint64_t> characters;
    std::unordered_set<size_t> lines;    // by hash
    std::map<size_t, uint64_t> lengths;  // of lines, and how many have each
  };
  void add(Column& column, std::string_view text);
  void compare(TextProfile& profile) const;

  uint64_t limit_, bytes_ = 0;
  TextProfile profile_;
  std::vector<Column> columns_;
};

}  // namespace attend
