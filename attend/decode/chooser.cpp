#include "attend/decode/chooser.h"

#include <algorithm>

#include "attend/decode/beam.h"

namespace attend {
namespace {

const SearchConfig& config_of(const Frontier& frontier, LiveRange range) {
  return frontier.request(frontier.live()[range.begin].record).config;
}

}  // namespace

std::vector<Candidate> Chooser::operator()(Frontier& frontier) {
  const NextTokens next = frontier.step(candidates(frontier));
  std::vector<Candidate> chosen;
  for (const LiveRange range : frontier.by_record()) {
    if (config_of(frontier, range).sample) {
      sampler_.sample(frontier, next, range, chosen);
    } else {
      extend_beam(frontier, next, range, observer_, chosen);
    }
  }
  return chosen;
}

// The most that a record needs of a row.
size_t Chooser::candidates(const Frontier& frontier) const {
  size_t most = observer_ == nullptr ? 1 : observer_->candidates();
  for (const LiveRange range : frontier.by_record()) {
    const SearchConfig& config = config_of(frontier, range);
    most = std::max(most, config.sample ? sample_candidates(config) : beam_candidates(config));
  }
  return most;
}

void retire_decided(Frontier& frontier, std::span<const std::vector<Hypothesis>> finished) {
  std::vector<size_t> decided;
  for (const LiveRange range : frontier.by_record()) {
    const size_t record = frontier.live()[range.begin].record;
    if (!config_of(frontier, range).sample && is_decided(frontier, range, finished[record])) {
      decided.push_back(record);
    }
  }
  for (const size_t record : decided) frontier.retire(record);
}

}  // namespace attend
