// chrF and chrF++ (Popović, 2015 and 2017) as in sacreBLEU: the F-score of the precision and recall
// of character and word n-grams, averaged over the orders that occur. Statistics of lines are
// summed, then scored, as with BLEU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics/references.h"

namespace attend {

struct ChrfOptions {
  size_t character_order = 6;
  size_t word_order = 0;  // 2 is chrF++
  double beta = 2;        // weight of recall relative to precision
  bool lower_case = false;
  bool white_space = false;  // whether character n-grams include it
};

// Counts of n-grams, which can be summed over lines.
struct ChrfStats {
  // Those of one length.
  struct Order {
    uint64_t hypothesis = 0, reference = 0, matches = 0;
  };
  std::vector<Order> orders;  // characters, then words; empty before the first line
  ReferenceCount references;

  // Adds the counts of other lines.
  ChrfStats& operator+=(const ChrfStats& other);
};

// The counts of one line, with the reference that gives the best score.
ChrfStats chrf_stats(std::string_view hypothesis, References references,
                     const ChrfOptions& options = {});
double chrf_score(const ChrfStats& stats, const ChrfOptions& options = {});  // in percent
// How it was measured, in sacreBLEU's form.
std::string chrf_signature(const ChrfStats& stats, const ChrfOptions& options = {});
std::string chrf_name(const ChrfOptions& options = {});  // "chrF2", "chrF2++"

// chrF of one line.
double sentence_chrf(std::string_view hypothesis, References references,
                     const ChrfOptions& options = {});

}  // namespace attend
