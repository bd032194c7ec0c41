// Additive attention over the steps of a recurrent layer (Cheng et al., 2016), in place;
// attention/recall.h is built on it. Row s of each step belongs to sequence s. Threads share the
// sequences; the bits of a sequence depend on its own rows alone.
#pragma once

#include <span>

#include "attend/kernels/gemm.h"

namespace attend::kernels {

// What is kept of one step; nothing is transposed.
struct RecallStep {
  Matrix key;   // (sequences, width)
  Matrix h, c;  // (sequences, hidden)
};

// The inputs of recall.
struct RecallInputs {
  size_t sequences, width, hidden;
  std::span<const RecallStep> steps;
  Matrix q;             // (sequences, width)
  const float* vector;  // (width)
};

// scores[s, i] = vector.tanh(q[s] + key_i[s]), (sequences, steps).
void recall_scores(const RecallInputs& in, float* scores);

// mixtures[s] = sum_i weights[s, i] (h_i[s], c_i[s]), (sequences, 2 hidden).
void recall_mixtures(const RecallInputs& in, const float* weights, float* mixtures);

// The gradient of mixtures whose weights are the softmax of scores, added to the outputs.
struct RecallGradient {
  const float* weights;                    // (sequences, steps)
  Matrix dy;                               // (sequences, 2 hidden)
  std::span<MutableMatrix> dkeys, dh, dc;  // (steps), as in RecallStep; null where not needed
  MutableMatrix dq;                        // (sequences, width)
  float* dvectors;                         // (sequences, width), of each sequence by itself
};
void recall_backward(const RecallInputs& in, const RecallGradient& gradient);

}  // namespace attend::kernels
