// A search as a tree of every token that was considered, kept or not.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "attend/decode/search.h"

namespace attend {

// A token that was considered.
struct BeamNode {
  size_t parent;  // its number; 0 is the root, which has no node; node i has the number i + 1
  int32_t token;
  float log_probability;
  double total;  // the sum with all before it
  bool kept;     // the beam continued with it, or it ended a hypothesis
};

// Records the search of one record.
class BeamTree : public SearchObserver {
 public:
  // The nodes of a step, and the most probable one that was kept.
  struct Step {
    size_t first, count, best;
    size_t best_parent;  // of the live hypotheses
  };
  // Called after each step.
  using OnStep = std::function<void(const Step& step)>;

  // `end` is the id of the token that ends a sequence.
  BeamTree(size_t candidates, int32_t end) : candidates_(candidates), end_(end) {}
  // Sets what is called after each step.
  void on_step_call(OnStep on_step) { on_step_ = std::move(on_step); }

  size_t candidates() const override { return candidates_; }
  void on_step(std::span<const Live> live, std::span<const Candidate> candidates,
               const std::vector<bool>& kept) override;

  // Adds a node to a tree that no search builds, and returns its number.
  size_t add(const BeamNode& node);

  // All nodes, and the one with a number.
  const std::vector<BeamNode>& nodes() const { return nodes_; }
  const BeamNode& node(size_t number) const { return nodes_.at(number - 1); }

  // The nodes of a hypothesis from the root, with the end if it was reached.
  std::vector<size_t> path(const Hypothesis& hypothesis) const;
  // The tokens from the root to a node, without the end.
  std::vector<int32_t> tokens(size_t number) const;

 private:
  size_t node_of(std::span<const int32_t> tokens) const;            // of a live hypothesis
  std::vector<size_t> walk(std::span<const int32_t> tokens) const;  // from the root

  size_t candidates_;
  int32_t end_;
  OnStep on_step_;
  std::vector<BeamNode> nodes_;
  std::vector<size_t> latest_;                         // nodes that were kept in the last step
  std::map<std::pair<size_t, int32_t>, size_t> kept_;  // by parent and token
};

}  // namespace attend
