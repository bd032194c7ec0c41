// Max and mean pooling over windows of channels-last rows, and over whole sequences or images.
#pragma once

#include "attend/kernels/conv_window.h"
#include "attend/kernels/rows.h"

namespace attend::kernels {

// Shapes: x, dx (windows.from, channels); y, dy, choice (windows.to, channels), without gaps.

// y[r, c] = the largest of x[source(r, tap), c]; NaN if one is. choice[r, c] = its tap, the first
// on ties; if the whole window is outside, choice is -1 and y 0. choice may be nullptr.
void max_pool(const Windows& windows, Rows x, float* y, float* choice);
void max_pool_backward(const Windows& windows, const float* choice, const float* dy, MutableRows dx,
                       bool add);

// y[r, c] = the sum of x[source(r, tap), c] / (all taps, or only those not outside); 0 if all are.
enum class PoolCount { kInside, kAll };
void average_pool(const Windows& windows, PoolCount count, Rows x, float* y);
void average_pool_backward(const Windows& windows, PoolCount count, const float* dy, MutableRows dx,
                           bool add);

// Over each image or sequence as a whole: y, dy, choice (places.count, channels). choice is the
// row, counted from the first of the image; an empty sequence gives 0, and -1.
void max_each(const Places& places, Rows x, float* y, float* choice);
void max_each_backward(const Places& places, const float* choice, const float* dy, MutableRows dx,
                       bool add);
void mean_each(const Places& places, Rows x, float* y);
void mean_each_backward(const Places& places, const float* dy, MutableRows dx, bool add);

}  // namespace attend::kernels
