#include "attend/inspect/beam_tree.h"

#include <algorithm>

#include "attend/base/special_tokens.h"

namespace attend {

void BeamTree::on_step(std::span<const Live> live, std::span<const Candidate> candidates,
                       const std::vector<bool>& kept) {
  Step step{nodes_.size() + 1, 0, 0, 0};
  std::vector<size_t> shown(live.size(), 0);        // of each live hypothesis
  for (size_t i = 0; i < candidates.size(); ++i) {  // best first
    const Candidate& c = candidates[i];
    if (!kept[i] && shown[c.parent] >= candidates_) continue;
    ++shown[c.parent];
    std::vector<int32_t> written = live[c.parent].so_far.tokens;
    nodes_.push_back({kept_.at(written), c.token, c.log_probability, c.total, kept[i]});
    if (!kept[i]) continue;
    written.push_back(c.token);
    kept_[written] = nodes_.size();
    if (step.best == 0) step.best = nodes_.size(), step.best_parent = c.parent;
  }
  step.count = nodes_.size() + 1 - step.first;
  if (on_step_) on_step_(step);
}

std::vector<size_t> BeamTree::path(const Hypothesis& hypothesis) const {
  std::vector<int32_t> written;
  std::vector<size_t> numbers;
  const auto add = [&](int32_t token) {
    written.push_back(token);
    if (const auto found = kept_.find(written); found != kept_.end()) {
      numbers.push_back(found->second);
    }
  };
  for (const int32_t token : hypothesis.tokens) add(token);
  if (hypothesis.ended) add(kEnd);
  return numbers;
}

std::vector<int32_t> BeamTree::tokens(size_t number) const {
  std::vector<int32_t> all;
  for (; number > 0; number = node(number).parent) {
    if (node(number).token != kEnd) all.push_back(node(number).token);
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace attend
