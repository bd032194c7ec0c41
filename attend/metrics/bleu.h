// BLEU (Papineni et al., 2002) with sacreBLEU's tokenisations and smoothings (Post, 2018; Chen and
// Cherry, 2014): the results agree to the last digit. Statistics of lines are summed, then scored:
//   BleuStats stats;
//   for (...) stats += bleu_stats(hypothesis, references, options);
//   BleuScore score = bleu_score(stats, options);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "attend/base/names.h"
#include "attend/metrics/references.h"

namespace attend {

// How lines are split into tokens.
enum class BleuTokens {
  k13a,   // that of mteval-v13a, the default of WMT, for raw text
  kNone,  // words separated by white space, for text that is already tokenised
  kChar,  // every character
};
// Their names.
inline constexpr Named<BleuTokens> kBleuTokens[] = {
    {BleuTokens::k13a, "13a"},
    {BleuTokens::kNone, "none"},
    {BleuTokens::kChar, "char"},
};

// What replaces a precision of 0.
enum class BleuSmoothing { kNone, kFloor, kAddK, kExp };
// Their names.
inline constexpr Named<BleuSmoothing> kBleuSmoothings[] = {
    {BleuSmoothing::kNone, "none"},
    {BleuSmoothing::kFloor, "floor"},
    {BleuSmoothing::kAddK, "add-k"},
    {BleuSmoothing::kExp, "exp"},
};

struct BleuOptions {
  BleuTokens tokens = BleuTokens::k13a;
  BleuSmoothing smoothing = BleuSmoothing::kExp;
  std::optional<double> smoothing_value;  // for floor (0.1) and add-k (1)
  bool lower_case = false;
  bool effective_order = false;  // ignores orders longer than the hypothesis
};

// The longest n-grams that are counted.
inline constexpr size_t kBleuOrder = 4;

// Counts of n-grams, which can be summed over lines.
struct BleuStats {
  uint64_t hypothesis_length = 0;
  uint64_t reference_length = 0;  // of the reference closest in length; of two, the shorter
  std::array<uint64_t, kBleuOrder> correct = {};
  std::array<uint64_t, kBleuOrder> total = {};
  ReferenceCount references;

  // Adds the counts of other lines.
  BleuStats& operator+=(const BleuStats& other);
};

// BLEU and its parts.
struct BleuScore {
  double score = 0;  // in percent, like the precisions
  std::array<double, kBleuOrder> precisions = {};
  double brevity_penalty = 1;
  uint64_t hypothesis_length = 0, reference_length = 0;

  // `BLEU = 38.21 70.1/45.3/31.0/21.5 (BP = 0.992 ratio = 0.992 hyp_len = 990 ref_len = 998)`
  std::string text() const;
};

// The counts of one line; the score of summed counts; and how it was measured, in sacreBLEU's form.
BleuStats bleu_stats(std::string_view hypothesis, References references,
                     const BleuOptions& options = {});
BleuScore bleu_score(const BleuStats& stats, const BleuOptions& options = {});
std::string bleu_signature(const BleuStats& stats, const BleuOptions& options = {});

// BLEU of one line, always with effective_order.
BleuScore sentence_bleu(std::string_view hypothesis, References references,
                        BleuOptions options = {});

// The line as BLEU reads it: its tokens separated by spaces.
std::string bleu_tokenize(std::string_view line, const BleuOptions& options = {});

}  // namespace attend
