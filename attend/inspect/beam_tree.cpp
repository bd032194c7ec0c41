#include "attend/inspect/beam_tree.h"

#include <algorithm>

namespace attend {

size_t BeamTree::add(const BeamNode& node) {
  nodes_.push_back(node);
  if (node.kept) kept_[{node.parent, node.token}] = nodes_.size();
  return nodes_.size();
}

void BeamTree::on_step(std::span<const Live> live, std::span<const Candidate> candidates,
                       const std::vector<bool>& kept) {
  Step step{nodes_.size() + 1, 0, 0, 0};
  std::vector<size_t> parents;
  for (const Live& l : live) parents.push_back(node_of(l.so_far.tokens));
  std::vector<size_t> shown(live.size(), 0);  // of each live hypothesis
  latest_.clear();
  for (size_t i = 0; i < candidates.size(); ++i) {  // best first
    const Candidate& c = candidates[i];
    if (!kept[i] && shown[c.parent] >= candidates_) continue;
    ++shown[c.parent];
    const size_t number = add({parents[c.parent], c.token, c.log_probability, c.total, kept[i]});
    if (!kept[i]) continue;
    latest_.push_back(number);
    if (step.best == 0) step.best = number, step.best_parent = c.parent;
  }
  step.count = nodes_.size() + 1 - step.first;
  if (on_step_) on_step_(step);
}

// Mostly the one node of the last step with that token, and otherwise found from the root.
size_t BeamTree::node_of(std::span<const int32_t> tokens) const {
  if (tokens.empty()) return 0;
  const auto has_token = [&](size_t number) { return node(number).token == tokens.back(); };
  if (std::ranges::count_if(latest_, has_token) == 1) {
    return *std::ranges::find_if(latest_, has_token);
  }
  return walk(tokens).back();
}

std::vector<size_t> BeamTree::walk(std::span<const int32_t> tokens) const {
  std::vector<size_t> numbers;
  size_t parent = 0;
  for (const int32_t token : tokens) numbers.push_back(parent = kept_.at({parent, token}));
  return numbers;
}

std::vector<size_t> BeamTree::path(const Hypothesis& hypothesis) const {
  std::vector<int32_t> written = hypothesis.tokens;
  if (hypothesis.ended) written.push_back(end_);
  return walk(written);
}

std::vector<int32_t> BeamTree::tokens(size_t number) const {
  std::vector<int32_t> all;
  for (; number > 0; number = node(number).parent) {
    if (node(number).token != end_) all.push_back(node(number).token);
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace attend
