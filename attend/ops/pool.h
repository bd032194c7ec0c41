// Pooling on the tape, channels last. On ties the gradient of a maximum goes to the first.
#pragma once

#include "attend/ops/conv.h"

namespace attend {

struct Pool1dOptions {
  size_t kernel;
  size_t stride = 0;  // 0: the kernel, so that windows do not overlap
  size_t dilation = 1;
  size_t left = 0, right = 0;  // padding, which is never the maximum
  // Whether a mean divides by the whole kernel, padding included, as PyTorch does by default, or
  // only by the rows inside the sequence.
  bool count_padding = false;
};

// Pools each sequence by itself.  x [rows, width]. A window that is all padding gives 0.
Sequences max_pool1d(const Tensor& x, const Packing& packing, const Pool1dOptions& options);
Sequences mean_pool1d(const Tensor& x, const Packing& packing, const Pool1dOptions& options);

struct Pool2dOptions {
  Extent2 kernel;
  Extent2 stride = 0;  // 0: the kernel
  Extent2 padding = 0, dilation = 1;
  bool count_padding = false;
};

// x [batch, height, width, channels].
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
Tensor mean_pool2d(const Tensor& x, const Pool2dOptions& options);

// Over each whole sequence: x [rows, width] to [sequences, width]; an empty sequence gives 0.
Tensor max_pool(const Tensor& x, const Packing& packing);
Tensor mean_pool(const Tensor& x, const Packing& packing);

// Over each whole image: x [batch, height, width, channels] to [batch, channels].
Tensor max_pool(const Tensor& x);
Tensor mean_pool(const Tensor& x);

}  // namespace attend
