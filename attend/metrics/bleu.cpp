#include "attend/metrics/bleu.h"

#include <algorithm>
#include <cmath>

#include "attend/metrics/ngrams.h"
#include "attend/metrics/unicode.h"

namespace attend {
namespace {

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::kFloor ? 0.1 : 1.0);
}

double brevity_penalty(const BleuStats& stats) {
  if (stats.hypothesis_length >= stats.reference_length) return 1;
  if (stats.hypothesis_length == 0) return 0;
  return std::exp(1 - static_cast<double>(stats.reference_length) /
                          static_cast<double>(stats.hypothesis_length));
}

uint64_t nearest(uint64_t length, uint64_t a, uint64_t b) {
  const auto distance = [&](uint64_t x) { return x > length ? x - length : length - x; };
  return std::pair(distance(a), a) <= std::pair(distance(b), b) ? a : b;
}

}  // namespace

BleuStats& BleuStats::operator+=(const BleuStats& other) {
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    correct[n] += other.correct[n];
    total[n] += other.total[n];
  }
  references += other.references;
  return *this;
}

BleuStats bleu_stats(std::string_view hypothesis, References references,
                     const BleuOptions& options) {
  WordNumbers numbers;
  const auto symbols = [&](std::string_view line) {
    const std::string tokens = bleu_tokenize(line, options);
    return numbers(split_words(tokens));
  };
  const std::vector<uint32_t> words = symbols(hypothesis);
  BleuStats stats{.hypothesis_length = words.size(),
                  .references = count_references(references, "BLEU")};
  NgramMatcher matcher(kBleuOrder);
  for (size_t i = 0; i < references.size(); ++i) {
    const std::vector<uint32_t> reference = symbols(references[i]);
    matcher.add_reference(reference);
    stats.reference_length =
        i == 0 ? reference.size() : nearest(words.size(), stats.reference_length, reference.size());
  }
  std::ranges::copy(matcher.match(words), stats.correct.begin());
  for (size_t n = 0; n < kBleuOrder; ++n) stats.total[n] = ngram_count(words.size(), n + 1);
  return stats;
}

BleuScore bleu_score(const BleuStats& stats, const BleuOptions& options) {
  BleuScore result{.brevity_penalty = brevity_penalty(stats),
                   .hypothesis_length = stats.hypothesis_length,
                   .reference_length = stats.reference_length};
  if (std::ranges::all_of(stats.correct, [](uint64_t count) { return count == 0; })) return result;
  double halving = 1;
  size_t order = options.effective_order ? 0 : kBleuOrder;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    const double k =
        options.smoothing == BleuSmoothing::kAddK && n > 0 ? smoothing_value(options) : 0;
    double correct = static_cast<double>(stats.correct[n]) + k;
    const double total = static_cast<double>(stats.total[n]) + k;
    if (total == 0) break;
    if (options.effective_order) order = n + 1;
    if (correct == 0 && options.smoothing == BleuSmoothing::kExp) correct = 1 / (halving *= 2);
    if (correct == 0 && options.smoothing == BleuSmoothing::kFloor) {
      correct = smoothing_value(options);
    }
    result.precisions[n] = 100 * correct / total;
  }
  double logarithms = 0;
  for (size_t n = 0; n < order; ++n) logarithms += std::log(result.precisions[n]);
  result.score = result.brevity_penalty * std::exp(logarithms / static_cast<double>(order));
  return result;
}

BleuScore sentence_bleu(std::string_view hypothesis, References references, BleuOptions options) {
  options.effective_order = true;
  return bleu_score(bleu_stats(hypothesis, references, options), options);
}

std::string bleu_signature(const BleuStats& stats, const BleuOptions& options) {
  std::string smoothing(name_from_value(kBleuSmoothings, options.smoothing));
  if (options.smoothing == BleuSmoothing::kFloor || options.smoothing == BleuSmoothing::kAddK) {
    smoothing += fmt::format("[{:.2f}]", smoothing_value(options));
  }
  return signature(
      stats.references,
      fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", options.lower_case ? "lc" : "mixed",
                  options.effective_order ? "yes" : "no",
                  name_from_value(kBleuTokens, options.tokens), smoothing));
}

std::string BleuScore::text() const {
  const double ratio = reference_length == 0 ? 0
                                             : static_cast<double>(hypothesis_length) /
                                                   static_cast<double>(reference_length);
  return fmt::format(
      "BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len "
      "= {})",
      score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
      hypothesis_length, reference_length);
}

}  // namespace attend
