// Error rates of words, phones or characters by edit distance (Levenshtein, 1966), and how many
// sequences are right as a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "attend/metrics/references.h"

namespace attend {

enum class ErrorUnit {
  kWord,       // what stands between white space: words, or phones
  kCharacter,  // code points, white space at the ends left out
};

struct ErrorStats {
  uint64_t edits = 0;             // substitutions, deletions and insertions
  uint64_t reference_length = 0;  // of the references compared with
  uint64_t sequences = 0, wrong_sequences = 0;

  ErrorStats& operator+=(const ErrorStats& other);
};

// Of the reference with the fewest edits; among those, the longest.
ErrorStats error_stats(std::string_view hypothesis, References references,
                       ErrorUnit unit = ErrorUnit::kWord);

double error_rate(const ErrorStats& stats);  // edits in 100 units; of empty references, infinite
double sequence_accuracy(const ErrorStats& stats);  // sequences without an edit, in 100

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
