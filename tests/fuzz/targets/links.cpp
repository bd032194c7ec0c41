// Word alignments as Moses writes them.
#include "attend/metrics/alignment.h"

#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_links(std::string_view bytes) {
  const std::vector<Link> links = parse_links(bytes);
  require(parse_links(format_links(links)) == links, "what is written reads back as the same");
  const std::vector<Link> others = parse_links("0-0 1p2");
  AlignmentStats stats = alignment_stats(links, others);
  stats += alignment_stats(others, links);
  for (const double rate :
       {alignment_error_rate(stats), alignment_precision(stats), alignment_recall(stats)}) {
    require(rate >= 0 && rate <= 100, "a rate is a rate");
  }
}

std::vector<std::string> links_seeds() {
  return {"0-0 1-2 2p1\t3?4", "", "4294967295-1", "a-1", "1-"};
}

}  // namespace attend::fuzz
