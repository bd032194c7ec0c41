#include "attend/train/token_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

// A closed set of words, each of them often: commands, phones, number words.
bool has_closed_words(const ColumnProfile& column) {
  constexpr size_t kMostWords = 300;
  constexpr uint64_t kOften = 20;
  return column.distinct_words <= kMostWords && column.words >= kOften * column.distinct_words &&
         column.new_words == 0 && column.words > column.distinct_lines;
}

}  // namespace

size_t rounded(double value) {
  const double unit =
      std::pow(10.0, std::max(0.0, std::floor(std::log10(std::max(1.0, value))) - 1));
  return static_cast<size_t>(std::llround(value / unit) * std::llround(unit));
}

std::string about(double count) {
  if (count < 1000) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.0f} thousand", count / 1e3);
  return fmt::format("{:.1f} million", count / 1e6);
}

bool has_labels(const TextProfile& profile, size_t column) {
  const ColumnProfile& found = profile.columns[column];
  return found.distinct_lines <= 100 && found.distinct_lines * 20 <= profile.seen;
}

// So many that each subword is seen often enough to be learned: 1,000 for a few hundred thousand
// characters, 8,000 for a few million, never more than there are words.
size_t fitting_vocabulary(double characters, const ColumnProfile& column) {
  const double by_size = 8000 * std::pow(characters / 3.6e6, 0.7);
  const auto there = static_cast<double>(column.distinct_words + column.distinct_characters);
  return rounded(std::clamp(std::min(by_size, 0.8 * there), 300.0, 32000.0));
}

VocabularyChoice tokens_of(const TextProfile& profile, size_t index, double characters) {
  constexpr double kShortLine = 20, kLittleText = 200e3;  // characters
  const ColumnProfile& column = profile.columns[index];
  if (has_closed_words(column)) {
    return {TokenizerKind::kWord, 0, fmt::format("only {}, and they recur", column.distinct_words)};
  }
  if (profile.mean_characters(index) < kShortLine) {
    return {TokenizerKind::kCharacter, 0,
            fmt::format("{:.0f} to a line on average", profile.mean_characters(index))};
  }
  if (characters < kLittleText) {
    return {TokenizerKind::kCharacter, 0, fmt::format("there are only {}", about(characters))};
  }
  return {TokenizerKind::kBpe, fitting_vocabulary(characters, column),
          fmt::format("for {} characters of text", about(characters))};
}

double characters_of_subword(size_t vocabulary) {
  return 2.5 + 0.5 * std::log2(std::max(1.0, static_cast<double>(vocabulary) / 1000));
}

VocabularyChoice tokens_of_book(const TextProfile& profile, double characters) {
  constexpr double kShortBook = 3e6;
  if (characters < kShortBook) {
    return {TokenizerKind::kCharacter, 0, fmt::format("there are only {}", about(characters))};
  }
  return {TokenizerKind::kBpe, fitting_vocabulary(characters, profile.columns[0]),
          fmt::format("for {} characters of text", about(characters))};
}

}  // namespace attend
