// Causal convolutions in steps.
#pragma once

#include <span>
#include <vector>

#include "attend/kernels/gemm.h"
#include "attend/nn/conv1d.h"

namespace attend {

// The weights of a convolution as one product: (kernel x in, out).
kernels::PackedMatrix packed_taps(const Conv1d& conv);

// The last rows of each hypothesis, as many as the convolution needs, in a ring buffer: a step
// writes one row and moves none. Not on the tape.
class ConvWindow {
 public:
  // For a causal convolution without groups; `taps` are its packed_taps().
  ConvWindow(const Conv1d& conv, kernels::PackedMatrix taps);

  // Convolves the next rows of each hypothesis, x [rows, in], to [rows, out].
  Tensor advance(const Tensor& x, const Packing& packing);

  // Appends hypotheses that have read nothing.
  void admit(size_t hypotheses);
  // Hypothesis i becomes what hypothesis parents[i] was.
  void reorder(std::span<const size_t> parents);
  void clear();  // hypotheses have read nothing

  size_t reach() const { return reach_; }  // rows

 private:
  size_t kernel_, dilation_, width_, reach_;
  kernels::PackedMatrix taps_;
  Tensor bias_;                 // of the convolution
  Tensor rows_;                 // [hypotheses x reach, in]; zeros before the first
  std::vector<size_t> oldest_;  // row of each hypothesis, which the next row replaces
};

}  // namespace attend
