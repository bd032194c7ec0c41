#include "attend/metrics/alignment.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/metrics/unicode.h"

namespace attend {
namespace {

Link parse_link(std::string_view text) {
  Link link;
  const char* const end = text.data() + text.size();
  const auto [mark, source_error] = std::from_chars(text.data(), end, link.source);
  if (source_error == std::errc() && mark != end &&
      std::string_view("-p?").find(*mark) != std::string_view::npos) {
    link.sure = *mark == '-';
    const auto [rest, target_error] = std::from_chars(mark + 1, end, link.target);
    if (target_error == std::errc() && rest == end) return link;
  }
  throw FormatError("alignment: '{}' is no link; one looks like 0-2, or 0p2 when only possible",
                    shown_name(text));
}

double percent_or_all(uint64_t part, uint64_t whole) {
  return whole == 0 ? 100 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<Link> parse_links(std::string_view line) {
  std::vector<Link> links;
  for (const std::string_view word : split_words(line)) links.push_back(parse_link(word));
  return links;
}

std::string format_links(std::span<const Link> links) {
  std::string line;
  for (const Link& link : links) {
    fmt::format_to(std::back_inserter(line), "{}{}{}{}", line.empty() ? "" : " ", link.source,
                   link.sure ? '-' : 'p', link.target);
  }
  return line;
}

AlignmentStats& AlignmentStats::operator+=(const AlignmentStats& other) {
  links += other.links;
  sure += other.sure;
  sure_matches += other.sure_matches;
  possible_matches += other.possible_matches;
  return *this;
}

AlignmentStats alignment_stats(std::span<const Link> predicted, std::span<const Link> gold) {
  std::map<std::pair<uint32_t, uint32_t>, bool> is_sure;
  for (const Link& link : gold) is_sure[{link.source, link.target}] |= link.sure;
  std::set<std::pair<uint32_t, uint32_t>> links;
  for (const Link& link : predicted) links.emplace(link.source, link.target);

  AlignmentStats stats{.links = links.size()};
  for (const auto& [link, sure] : is_sure) {
    const uint64_t found = links.contains(link) ? 1 : 0;
    stats.possible_matches += found;
    if (!sure) continue;
    ++stats.sure;
    stats.sure_matches += found;
  }
  return stats;
}

double alignment_error_rate(const AlignmentStats& stats) {
  return 100 -
         percent_or_all(stats.sure_matches + stats.possible_matches, stats.links + stats.sure);
}

double alignment_precision(const AlignmentStats& stats) {
  return percent_or_all(stats.possible_matches, stats.links);
}

double alignment_recall(const AlignmentStats& stats) {
  return percent_or_all(stats.sure_matches, stats.sure);
}

}  // namespace attend
