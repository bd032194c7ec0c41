#include "attend/metrics/error_rate.h"

#include <limits>

#include "attend/metrics/ngrams.h"
#include "attend/metrics/unicode.h"

namespace attend {
namespace {

double percent_or_none(uint64_t part, uint64_t whole) {
  return part == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ErrorStats& ErrorStats::operator+=(const ErrorStats& other) {
  edits += other.edits;
  reference_length += other.reference_length;
  sequences += other.sequences;
  wrong_sequences += other.wrong_sequences;
  return *this;
}

ErrorStats error_stats(std::string_view hypothesis, References references, ErrorUnit unit) {
  count_references(references, "error rate");
  WordNumbers numbers;
  const auto symbols = [&](std::string_view line) {
    return unit == ErrorUnit::kWord ? numbers(split_words(line))
                                    : code_points(strip(line), WhiteSpace::kKeep);
  };
  const std::vector<uint32_t> given = symbols(hypothesis);
  ErrorStats best{.edits = std::numeric_limits<uint64_t>::max(), .sequences = 1};
  for (const std::string_view reference : references) {
    const std::vector<uint32_t> expected = symbols(reference);
    const size_t edits = edit_distance<uint32_t>(given, expected);
    if (edits > best.edits || (edits == best.edits && expected.size() <= best.reference_length)) {
      continue;
    }
    best.edits = edits;
    best.reference_length = expected.size();
  }
  best.wrong_sequences = best.edits > 0 ? 1 : 0;
  return best;
}

double error_rate(const ErrorStats& stats) {
  return percent_or_none(stats.edits, stats.reference_length);
}

double sequence_accuracy(const ErrorStats& stats) {
  return percent_or_none(stats.sequences - stats.wrong_sequences, stats.sequences);
}

}  // namespace attend
