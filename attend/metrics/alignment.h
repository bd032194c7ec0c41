// Word alignments in the format of Moses, and their error rate against gold alignments with sure
// and possible links (Och and Ney, 2003).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// A link between a source word and a target word.
struct Link {
  uint32_t source = 0, target = 0;  // words, from 0
  bool sure = true;                 // in gold alignments; otherwise true

  // By source, then by target.
  friend auto operator<=>(const Link&, const Link&) = default;
};

// Parses and prints "0-0 1-2"; a link that is only possible is 1p2 or 1?2. Throws FormatError that
// names what is not a link.
std::vector<Link> parse_links(std::string_view line);
std::string format_links(std::span<const Link> links);

// Counts of links, which can be summed over lines.
struct AlignmentStats {
  uint64_t links = 0, sure = 0;                     // predicted; gold
  uint64_t sure_matches = 0, possible_matches = 0;  // possible ones include sure ones

  // Adds the counts of other lines.
  AlignmentStats& operator+=(const AlignmentStats& other);
};

// Counts the links of one line. Their order does not matter, and duplicates count once; a link that
// is both sure and possible is sure.
AlignmentStats alignment_stats(std::span<const Link> predicted, std::span<const Link> gold);

// In percent; without any links the error rate is 0, and precision and recall are 100.
double alignment_error_rate(const AlignmentStats& stats);
double alignment_precision(const AlignmentStats& stats);  // predicted links that are possible
double alignment_recall(const AlignmentStats& stats);     // sure links that were predicted

}  // namespace attend
