// Convolutions on the tape, channels last: 1-D over packed sequences, 2-D over images.
#pragma once

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// A packed batch of sequences.
struct Sequences {
  Tensor rows;  // [packing.rows(), width]
  Packing packing;
};

struct Conv1dOptions {
  size_t stride = 1, dilation = 1, groups = 1;
  size_t left = 0, right = 0;  // rows of zeros before and after each sequence
};

// Convolves each sequence by itself.  x [rows, in], weight [out, in / groups, kernel] as in
// PyTorch, bias [out] or undefined; the result is [rows', out] with its own packing. A sequence
// that is empty or too short for the kernel gets no rows.
Sequences conv1d(const Tensor& x, const Packing& packing, const Tensor& weight,
                 const Tensor& bias = {}, const Conv1dOptions& options = {});

// A size along the height and the width of an image.
struct Extent2 {
  size_t height, width;

  Extent2(size_t both) : height(both), width(both) {}  // NOLINT(google-explicit-constructor)
  Extent2(size_t h, size_t w) : height(h), width(w) {}
  bool operator==(const Extent2&) const = default;
};

struct Conv2dOptions {
  Extent2 stride = 1, padding = 0, dilation = 1;
  size_t groups = 1;
};

// x [batch, height, width, in], weight [out, in / groups, kernel height, kernel width], bias [out]
// or undefined; the result is [batch, height', width', out].
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

}  // namespace attend
