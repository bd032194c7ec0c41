// Word alignments as Moses writes them, and their error rate against gold alignments with sure and
// possible links (Och and Ney, 2003).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct Link {
  uint32_t source = 0, target = 0;  // words, from 0
  bool sure = true;                 // of gold alignments only

  friend auto operator<=>(const Link&, const Link&) = default;
};

// "0-0 1-2"; a link that is only possible is 1p2 or 1?2. FormatError names what is no link.
std::vector<Link> parse_links(std::string_view line);
std::string format_links(std::span<const Link> links);

struct AlignmentStats {
  uint64_t links = 0, sure = 0;                     // predicted; gold
  uint64_t sure_matches = 0, possible_matches = 0;  // the latter include the former

  AlignmentStats& operator+=(const AlignmentStats& other);
};

// Order does not matter, nor does a link that is there twice; one that is sure and possible is
// sure.
AlignmentStats alignment_stats(std::span<const Link> predicted, std::span<const Link> gold);

// In 100; of nothing, the rate is 0 and the others are 100.
double alignment_error_rate(const AlignmentStats& stats);
double alignment_precision(const AlignmentStats& stats);  // predicted links that are possible
double alignment_recall(const AlignmentStats& stats);     // sure links that were predicted

}  // namespace attend
