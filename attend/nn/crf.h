// The weights of a conditional random field over tags (Lample et al., 2016, for the tags of names),
// and the steps that its tags do not allow.
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/ops/crf.h"
#include "attend/ops/elementwise.h"

namespace attend {

// Whether tag `after` may follow tag `before`; none is the start, or the end, of a sequence.
using MayFollow = std::function<bool(std::optional<size_t> before, std::optional<size_t> after)>;

// Weights that are 0 for what is allowed, and -infinity for what is not.
inline CrfWeights crf_rules(size_t tags, const MayFollow& may_follow) {
  const auto rule = [&](std::optional<size_t> before, std::optional<size_t> after) {
    return may_follow(before, after) ? 0.0f : -std::numeric_limits<float>::infinity();
  };
  const CrfWeights rules = {Tensor::empty({tags, tags}), Tensor::empty({tags}),
                            Tensor::empty({tags})};
  for (size_t i = 0; i < tags; ++i) {
    rules.start.data()[i] = rule(std::nullopt, i);
    rules.end.data()[i] = rule(i, std::nullopt);
    for (size_t j = 0; j < tags; ++j) rules.transitions.data()[i * tags + j] = rule(i, j);
  }
  return rules;
}

// The sums of two.
inline CrfWeights add(const CrfWeights& a, const CrfWeights& b) {
  return {add(a.transitions, b.transitions), add(a.start, b.start), add(a.end, b.end)};
}

struct Crf {
  Tensor transitions;  // [tags, tags], from the row's tag to the column's
  Tensor start, end;   // [tags]

  Crf() = default;
  Crf(size_t tags, Rng& rng)
      : transitions(parameter({tags, tags}, Init::kUniform, rng, 0.1f)),
        start(parameter({tags}, Init::kUniform, rng, 0.1f)),
        end(parameter({tags}, Init::kUniform, rng, 0.1f)) {}

  size_t tags() const { return start.size(); }  // how many there are

  // Gives the steps that are not allowed the weight -infinity from now on, in training and after
  // it. What is allowed is not saved with the parameters.
  void constrain(const MayFollow& may_follow) { rules_ = crf_rules(tags(), may_follow); }

  // The parameters, on the tape, with the constraints.
  CrfWeights weights() const {
    const CrfWeights own = {transitions, start, end};
    return rules_.start.defined() ? add(own, rules_) : own;
  }

  // The functions of ops/crf.h with these weights: emissions [rows, tags], gold int32 [rows].
  Tensor log_likelihood(const Tensor& emissions, const Packing& packing, const Tensor& gold) const {
    return crf_log_likelihood(emissions, packing, gold, weights());
  }
  CrfPaths best_paths(const Tensor& emissions, const Packing& packing) const {
    return crf_best_paths(emissions, packing, weights());
  }
  Tensor marginals(const Tensor& emissions, const Packing& packing) const {
    return crf_marginals(emissions, packing, weights());
  }

  void visit(Visitor& v) {
    v("transitions", transitions);
    v("start", start);
    v("end", end);
  }

 private:
  CrfWeights rules_;  // 0, or -infinity where a step is not allowed; undefined: all are
};

}  // namespace attend
