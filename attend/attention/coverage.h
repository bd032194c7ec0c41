// Additive attention that remembers where it looked, one query of a decoder after another:
// location-aware (Chorowski et al., 2015), coverage (Tu et al., 2016; See et al., 2017), and both
// at once (Shen et al., 2018).
#pragma once

#include <string>

#include "attend/attention/alignment.h"
#include "attend/nn/linear.h"

namespace attend {

// What is remembered of each key.
enum class Remembered {
  kLast,  // its weight at the step before
  kSum,   // its weights of all steps so far: the coverage
};
std::string_view name_of(Remembered remembered);

// Coverage as it is by default; location-aware with kLast and filters.
struct CoverageConfig {
  size_t width = 0;      // of queries
  size_t key_width = 0;  // 0: width
  size_t hidden = 0;     // in which queries and keys are compared; 0: width
  Remembered remembered = Remembered::kSum;
  size_t filters = 0;       // convolutions of what is remembered; 0: it is the one feature itself
  size_t filter_width = 0;  // odd; with filters only
};

// Sources, projected once for all steps.
struct CoverageSource {
  Tensor keys;    // U k [key rows, hidden]
  Tensor values;  // [key rows, any]
  Packing packing;
};

// Where the sequences of a decoder have looked.
struct CoverageState {
  Alignment alignment;              // which source each sequence looks at
  Tensor remembered;                // [pairs], on the tape
  std::vector<int32_t> steps = {};  // that each sequence has taken

  // Sequence i becomes what sequence parents[i] was; there may be more or fewer than before.
  void reorder(std::span<const size_t> parents);
  // The sequences and sources of another join behind these.
  void admit(const CoverageState& more);
  // The sources of these numbers are left, in that order: all that sequences look at.
  void retire_sources(std::span<const size_t> kept);
};

// At step t, with r_t = a_t-1 or a_1 + ... + a_t-1, zeros at first,
//   f_t = F * r_t  (or r_t without filters),
//   a_t = softmax(v.tanh(W q_t + b + U k + L f_t)),
//   y_t = sum_j a_tj value_j.
// Gradients flow through the weights of all steps.
struct CoverageAttention {
  CoverageConfig config;
  std::string name;   // for a Recorder
  Linear query, key;  // W with b, U
  Linear location;    // L
  Tensor filters;     // F [filters, 1, filter_width], or undefined
  Tensor vector;      // v [hidden]

  CoverageAttention() = default;
  CoverageAttention(const CoverageConfig& config, Rng& rng);

  // k [key rows, key_width], values [key rows, any].
  CoverageSource remember(const Tensor& k, const Tensor& values, const Packing& packing) const;
  // A sequence for each source, which has looked nowhere.
  CoverageState start(const CoverageSource& source) const;

  struct Step {
    Tensor output;   // y [sequences, any]
    Tensor weights;  // a [pairs]
  };
  // q [sequences, width]. Adds the weights to the state.
  Step step(const Tensor& q, const CoverageSource& source, CoverageState& state) const;

  void visit(Visitor& v);
};

// What looking again at the same places costs (See et al., 2017): sum_j min(a_j, c_j) of each
// sequence, [sequences], with the weights of a step and the coverage before it, [pairs] both.
Tensor coverage_loss(const Alignment& at, const Tensor& weights, const Tensor& coverage);

}  // namespace attend
