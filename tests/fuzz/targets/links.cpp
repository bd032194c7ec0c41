// Word alignments as Moses writes them.
#include "attend/metrics/alignment.h"

#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_links(std::string_view bytes) {
  const std::vector<Link> links = parse_links(bytes);
  require(parse_links(format_links(links)) == links, "what is written reads back as the same");
  require(alignment_error_rate(alignment_stats(links, links)) < 101, "a rate is a rate");
}

std::vector<std::string> links_seeds() {
  return {"0-0 1-2 2p1\t3?4", "", "4294967295-1", "a-1", "1-"};
}

}  // namespace attend::fuzz
