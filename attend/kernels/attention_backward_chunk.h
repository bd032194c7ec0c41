// One chunk of attention's gradient. Not for use outside attention*.cpp.
#pragma once

#include "attend/kernels/attention_work.h"

namespace attend::kernels {

struct BackwardInputs {
  const AttentionSpec& spec;
  const AttentionInputs& in;
  Matrix out;
  const float* lse;
  Matrix dout;
  size_t longest_keys;
};

// Where one chunk adds up what it shares with others.
struct ChunkSums {
  AttentionGradients::Part dk, dv;  // from the first key of the sequence and head on
  PairTable<float> dbias;           // or null
  float *drelative, *dsinks;        // (group, size), (group); or null
  float* dvector;                   // (group, width); null for dot products
};

// The sums of all parts of a sequence and key head: (parts, rows, width).
struct KeySums {
  const float* data;
  size_t parts, part_step;
  size_t row, rows;  // of the gradient
};

// Gives the gradients of its queries to grads.dq and those of its keys to sums.dk and sums.dv, and
// adds to the other sums.
void backward_chunk(const BackwardInputs& inputs, const AttentionGradients& grads,
                    const AttentionChunk& chunk, const ChunkSums& sums);

// The sums of a sequence and key head, into its part of a gradient.
void deliver_keys(const KeySums& sums, const AttentionGradients::Part& to, size_t kv_head,
                  size_t width);

}  // namespace attend::kernels
