// Convolution as a matrix product: the rows under each window laid side by side. Not for use
// outside kernels/.
#pragma once

#include "attend/kernels/conv_window.h"
#include "attend/kernels/gemm.h"

namespace attend::kernels {

// Channels that lie side by side, in groups that are convolved apart.
struct ChannelGroups {
  size_t count, channels;  // groups, and channels in each
};

// columns (groups, rows.size(), taps, channels): for each window in `rows` the rows of x under it,
// zeros where a tap is outside.  x (windows.from, groups x channels).
void im2col(const Windows& windows, RowRange rows, Matrix x, ChannelGroups groups, float* columns);

// The other way, for one group: adds columns (rows.size(), taps, channels) to the rows of x they
// were taken from.
void col2im(const Windows& windows, RowRange rows, const float* columns, size_t channels,
            MutableMatrix x);

}  // namespace attend::kernels
