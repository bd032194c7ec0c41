#include "attend/metrics/chrf.h"

#include <fmt/format.h>

#include "attend/metrics/ngrams.h"
#include "attend/metrics/unicode.h"

namespace attend {
namespace {

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

// Parts one mark of punctuation from a word: the last, or else the first.
std::vector<std::string_view> part_punctuation(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split_words(line)) {
    size_t cut = 0;
    if (is_punctuation(word.back())) {
      cut = word.size() - 1;
    } else if (is_punctuation(word.front())) {
      cut = 1;
    }
    if (cut > 0) words.push_back(word.substr(0, cut));
    words.push_back(word.substr(cut));
  }
  return words;
}

struct Symbols {
  std::vector<uint32_t> characters, words;
};

Symbols symbols_of(std::string_view line, const ChrfOptions& options, WordNumbers& numbers) {
  std::string lower;
  if (options.lower_case) line = lower = full_lower_case(line);
  return {code_points(line, options.white_space ? WhiteSpace::kKeep : WhiteSpace::kDrop),
          options.word_order > 0 ? numbers(part_punctuation(line)) : std::vector<uint32_t>()};
}

void append_orders(std::span<const uint32_t> hypothesis, std::span<const uint32_t> reference,
                   size_t order, std::vector<ChrfStats::Order>& orders) {
  NgramMatcher matcher(order);
  matcher.add_reference(reference);
  const std::vector<uint64_t> matches = matcher.match(hypothesis);
  for (size_t n = 1; n <= order; ++n) {
    const uint64_t expected = ngram_count(reference.size(), n);
    // An order that the reference does not have says nothing of the hypothesis.
    const uint64_t given = expected == 0 ? 0 : ngram_count(hypothesis.size(), n);
    orders.push_back({given, expected, matches[n - 1]});
  }
}

double ratio(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ChrfStats& ChrfStats::operator+=(const ChrfStats& other) {
  if (orders.size() < other.orders.size()) orders.resize(other.orders.size());
  for (size_t i = 0; i < other.orders.size(); ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].matches += other.orders[i].matches;
  }
  references += other.references;
  return *this;
}

ChrfStats chrf_stats(std::string_view hypothesis, References references,
                     const ChrfOptions& options) {
  ChrfStats best{.references = count_references(references, "chrF")};
  WordNumbers numbers;
  const Symbols given = symbols_of(hypothesis, options, numbers);
  double best_score = -1;
  for (const std::string_view reference : references) {
    const Symbols expected = symbols_of(reference, options, numbers);
    ChrfStats stats{.references = best.references};
    append_orders(given.characters, expected.characters, options.character_order, stats.orders);
    append_orders(given.words, expected.words, options.word_order, stats.orders);
    const double score = chrf_score(stats, options);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(stats);
  }
  return best;
}

double chrf_score(const ChrfStats& stats, const ChrfOptions& options) {
  double precision = 0, recall = 0, orders = 0;
  for (const ChrfStats::Order& order : stats.orders) {
    if (order.hypothesis == 0 || order.reference == 0) continue;
    precision += ratio(order.matches, order.hypothesis);
    recall += ratio(order.matches, order.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double factor = options.beta * options.beta;
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

double sentence_chrf(std::string_view hypothesis, References references,
                     const ChrfOptions& options) {
  return chrf_score(chrf_stats(hypothesis, references, options), options);
}

std::string chrf_signature(const ChrfStats& stats, const ChrfOptions& options) {
  return signature(
      stats.references,
      fmt::format("case:{}|eff:yes|nc:{}|nw:{}|space:{}", options.lower_case ? "lc" : "mixed",
                  options.character_order, options.word_order, options.white_space ? "yes" : "no"));
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta, std::string(options.word_order, '+'));
}

}  // namespace attend
