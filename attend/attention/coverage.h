// Additive attention that remembers where it attended at earlier steps of a decoder: location-aware
// (Chorowski et al., 2015), coverage (Tu et al., 2016; See et al., 2017), and both at once (Shen et
// al., 2018).
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

// The default is coverage; kLast with filters is location-aware attention.
struct CoverageConfig {
  size_t width = 0;      // of queries
  size_t key_width = 0;  // 0: width
  size_t hidden = 0;     // width in which queries and keys are compared; 0: width
  Remembered remembered = Remembered::kSum;
  size_t filters = 0;       // convolutions of what is remembered; 0: none, it is itself the feature
  size_t filter_width = 0;  // odd; with filters only
};

// The sources of a batch, projected once for all steps.
struct CoverageSource {
  Tensor keys;    // U k [key rows, hidden]
  Tensor values;  // [key rows, any]
  Packing packing;
};

// Where the sequences of a decoder have attended.
struct CoverageState {
  Alignment alignment;              // which source each sequence reads
  Tensor remembered;                // [pairs], on the tape
  std::vector<int32_t> steps = {};  // taken by each sequence

  // Sequence i becomes what sequence parents[i] was; there may be more or fewer than before.
  void reorder(std::span<const size_t> parents);
  // Appends the sequences and sources of another state.
  void admit(const CoverageState& more);
  // Keeps only these sources, in that order. Every sequence's source must be among them.
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
  // One sequence for each source, before its first step.
  CoverageState start(const CoverageSource& source) const;

  // The result of a step.
  struct Step {
    Tensor output;   // y [sequences, any]
    Tensor weights;  // a [pairs]
  };
  // q [sequences, width]. Adds the weights to the state.
  Step step(const Tensor& q, const CoverageSource& source, CoverageState& state) const;

  void visit(Visitor& v);
};

// The coverage loss, which penalises attending to the same places again (See et al., 2017): sum_j
// min(a_j, c_j) of each sequence, [sequences], with the weights of a step and the coverage before
// it, [pairs] both.
Tensor coverage_loss(const Alignment& at, const Tensor& weights, const Tensor& coverage);

}  // namespace attend
