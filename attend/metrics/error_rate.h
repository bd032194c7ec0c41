// Error rates of words, phones or characters by edit distance (Levenshtein, 1966), and the share of
// sequences without errors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "attend/metrics/references.h"

namespace attend {

// What edits count.
enum class ErrorUnit {
  kWord,       // separated by white space: words, or phones
  kCharacter,  // code points, without leading and trailing white space
};

// Counts of edits, which can be summed over lines.
struct ErrorStats {
  uint64_t edits = 0;             // substitutions, deletions and insertions
  uint64_t reference_length = 0;  // of the references that were used
  uint64_t sequences = 0, wrong_sequences = 0;

  // Adds the counts of other lines.
  ErrorStats& operator+=(const ErrorStats& other);
};

// The counts of one line, with the reference of the fewest edits; of several, the longest.
ErrorStats error_stats(std::string_view hypothesis, References references,
                       ErrorUnit unit = ErrorUnit::kWord);

// Edits per 100 units; infinite if references are empty.
double error_rate(const ErrorStats& stats);
double sequence_accuracy(const ErrorStats& stats);  // in percent

// The fewest substitutions, deletions and insertions that turn one into the other.
template <typename Symbol>
size_t edit_distance(std::span<const Symbol> from, std::span<const Symbol> to) {
  std::vector<size_t> row(to.size() + 1);  // row[j]: from the symbols of `from` so far to j of `to`
  std::iota(row.begin(), row.end(), size_t{0});
  for (const Symbol& symbol : from) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t substituted = diagonal + (symbol == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace attend
