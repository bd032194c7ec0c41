// Convolution of each channel by itself: few multiply-adds for each value loaded, so no matrix
// product. Not for use outside conv.cpp.
#pragma once

#include "attend/kernels/conv_window.h"
#include "attend/kernels/gemm.h"

namespace attend::kernels {

struct Depthwise {
  const Windows& windows;
  size_t channels;
  const float* taps;            // (taps, channels)
  const float* bias = nullptr;  // (channels)
  bool add = false;             // to what is there
};

// y[r, c] = bias[c] + the sum over taps of taps[tap, c] x[source(r, tap), c]
void depthwise_forward(const Depthwise& conv, Matrix x, MutableMatrix y);

// Adds to dtaps[tap, c] the sum of dy[r, c] x[source(r, tap), c] over `rows`, in the calling
// thread. dtaps (taps, channels) has no gaps: its stride is the number of channels.
void depthwise_backward_weight(const Windows& windows, RowRange rows, Matrix x, Matrix dy,
                               MutableMatrix dtaps);

}  // namespace attend::kernels
