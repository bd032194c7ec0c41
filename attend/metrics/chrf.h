// chrF and chrF++ (Popović, 2015 and 2017) as sacreBLEU has them: F-score of the precision and
// recall of character and word n-grams, averaged over the orders that occur. Statistics of lines
// are summed, then scored, as with BLEU.
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
  double beta = 2;        // how much more recall counts than precision
  bool lower_case = false;
  bool white_space = false;  // whether it belongs to the character n-grams
};

struct ChrfStats {
  struct Order {
    uint64_t hypothesis = 0, reference = 0, matches = 0;
  };
  std::vector<Order> orders;  // of characters, then of words; empty before the first line
  ReferenceCount references;

  ChrfStats& operator+=(const ChrfStats& other);
};

// Of the reference that gives the best score.
ChrfStats chrf_stats(std::string_view hypothesis, References references,
                     const ChrfOptions& options = {});
double chrf_score(const ChrfStats& stats, const ChrfOptions& options = {});  // of 100
std::string chrf_signature(const ChrfStats& stats, const ChrfOptions& options = {});
std::string chrf_name(const ChrfOptions& options = {});  // "chrF2", "chrF2++"

double sentence_chrf(std::string_view hypothesis, References references,
                     const ChrfOptions& options = {});

}  // namespace attend
