// Convolutions over channels-last rows, 1-D over packed sequences and 2-D over images alike:
// implicit matrix products, or a direct kernel where each channel is convolved by itself.
#pragma once

#include "attend/kernels/conv_window.h"
#include "attend/kernels/gemm.h"

namespace attend::kernels {

struct Convolution {
  size_t in, out, groups;  // channels, and groups of them, each convolved by itself
  Windows windows;         // which rows of x belong to each row of y

  // Channels of a group, and whether each channel is a group.
  size_t in_group() const { return in / groups; }
  size_t out_group() const { return out / groups; }
  bool depthwise() const { return groups == in && groups == out; }
};

// Shapes: x (windows.from, in), y (windows.to, out), bias (out) or nullptr. A weight (out, in /
// groups, kernel height, kernel width) is a matrix of rows of the kernel width. Nothing is
// transposed.

// y[r, o] = bias[o] + the sum over taps and channels of weight[o, c, tap] x[source(r, tap), c]
void conv_forward(const Convolution& conv, Matrix x, Matrix weight, const float* bias,
                  MutableMatrix y);

// The gradients of x and of weight, overwritten or added to. That of the bias is the sum of the
// rows of dy.
void conv_backward_input(const Convolution& conv, Matrix dy, Matrix weight, MutableMatrix dx,
                         bool add);
void conv_backward_weight(const Convolution& conv, Matrix x, Matrix dy, MutableMatrix dweight,
                          bool add);

}  // namespace attend::kernels
