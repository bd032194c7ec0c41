// Blocks of windows are laid out side by side in a buffer that stays in L2, and multiplied by
// weights packed once a call. Blocks and the partial sums of the weight gradient depend on sizes
// alone.
#include "attend/kernels/conv.h"

#include <algorithm>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/conv_depthwise.h"
#include "attend/kernels/im2col.h"
#include "attend/kernels/reduce.h"

namespace attend::kernels {
namespace {

// Memory of a thread, grown and never returned, so that a steady step allocates nothing.
struct Buffers {
  std::vector<float> columns, weights, partials;
};
thread_local Buffers buffers;

float* grow(std::vector<float>& buffer, size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

// Rows whose windows, `width` wide, fill about 200 KB.
size_t rows_a_block(size_t width) {
  return std::clamp<size_t>(50000 / std::max<size_t>(width, 1) / 6 * 6, 48, 252);
}

// The same where the product sums over the rows, and each block of them goes through the whole
// result.
size_t rows_a_sum(size_t width) {
  return std::clamp<size_t>(100000 / std::max<size_t>(width, 1), 96, 256);
}

// How the weights of a group are laid out, the channels of x always side by side. In kTapChannel
// all the groups of a depthwise convolution lie together.
enum class Layout { kOutTapIn, kTapOutIn, kTapChannel };

// Calls f(place, i) for weight i of the matrix (out x in / groups x kernel height, kernel width)
// and its place in the layout.
template <typename F>
void for_each_weight(const Convolution& conv, size_t o, Layout layout, F&& f) {
  const size_t in = conv.in_group(), out = conv.out_group(), taps = conv.windows.taps();
  const size_t group = o / out * out * taps * in, row = o % out;
  for (size_t tap = 0; tap < taps; ++tap) {
    const size_t first = layout == Layout::kTapChannel ? tap * conv.out + o
                         : layout == Layout::kOutTapIn ? group + (row * taps + tap) * in
                                                       : group + (tap * out + row) * in;
    for (size_t c = 0; c < in; ++c) f(first + c, (o * in + c) * taps + tap);
  }
}

// Where weight i lies when rows of the kernel's width are a stride apart.
size_t weight_offset(const Convolution& conv, size_t i, size_t stride) {
  const size_t width = conv.windows.horizontal.kernel;
  return stride == width ? i : i / width * stride + i % width;
}

size_t weights_of(const Convolution& conv) {
  return conv.out * conv.in_group() * conv.windows.taps();
}

size_t outputs_a_chunk(const Convolution& conv) {
  return 1 + 16384 / (conv.in_group() * conv.windows.taps() + 1);
}

const float* arrange(const Convolution& conv, Matrix weight, Layout layout) {
  float* arranged = grow(buffers.weights, weights_of(conv));
  parallel_for(conv.out, outputs_a_chunk(conv), [&](size_t begin, size_t end) {
    for (size_t o = begin; o < end; ++o) {
      for_each_weight(conv, o, layout, [&](size_t place, size_t i) {
        arranged[place] = weight.data[weight_offset(conv, i, weight.stride)];
      });
    }
  });
  return arranged;
}

std::vector<PackedMatrix> pack_groups(size_t groups, size_t k, size_t n, Matrix weights) {
  std::vector<PackedMatrix> packed;
  packed.reserve(groups);
  for (size_t g = 0; g < groups; ++g) {
    packed.emplace_back(k, n, weights);
    weights.data += k * n;
  }
  return packed;
}

// y (to, groups x out) = the rows of x (from, groups x in) under each window, times the weights.
struct ImplicitProduct {
  Windows windows;
  size_t in, out;
  std::vector<PackedMatrix> weights;  // (taps x in, out) for each group
  const float* bias = nullptr;
  bool add = false;
};

void multiply_group(const ImplicitProduct& product, size_t group, RowRange rows, Matrix windows,
                    MutableMatrix y) {
  const size_t column = group * product.out;
  gemm(rows.size(), windows, product.weights[group],
       {y.data + rows.begin * y.stride + column, y.stride},
       {.beta = product.add ? 1.0f : 0.0f, .bias = product.bias ? product.bias + column : nullptr});
}

void multiply(const ImplicitProduct& product, Matrix x, MutableMatrix y) {
  const size_t rows = product.windows.to.rows(), width = product.windows.taps() * product.in;
  const size_t groups = product.weights.size();
  if (product.windows.trivial()) {
    for (size_t g = 0; g < groups; ++g) {
      multiply_group(product, g, {0, rows}, {x.data + g * product.in, x.stride}, y);
    }
    return;
  }
  parallel_for(rows, rows_a_block(groups * width), [&](size_t begin, size_t end) {
    const RowRange block{begin, end};
    const size_t size = block.size() * width;
    float* columns = grow(buffers.columns, groups * size);
    im2col(product.windows, block, x, {groups, product.in}, columns);
    for (size_t g = 0; g < groups; ++g) {
      multiply_group(product, g, block, {columns + g * size, width}, y);
    }
  });
}

// The rows of the images [first, last).
RowRange rows_of(const Places& places, size_t first, size_t last) {
  const Image end = places.image(last - 1);
  return {places.image(first).row, end.row + end.height * end.width};
}

// The gradient of x where windows skip rows, without a product for those skipped. As windows
// overlap, an image is the work of one thread.
void scatter_input_gradient(const Convolution& conv, Matrix dy, Matrix weight, MutableMatrix dx,
                            bool add) {
  const Windows& windows = conv.windows;
  const size_t in = conv.in_group(), out = conv.out_group(), width = windows.taps() * in;
  const auto weights =
      pack_groups(conv.groups, out, width, {arrange(conv, weight, Layout::kOutTapIn), width});
  const size_t images_a_chunk = 1 + 256 * windows.from.count / (windows.from.rows() + 1);
  parallel_for(windows.from.count, images_a_chunk, [&](size_t first, size_t last) {
    const RowRange inputs = rows_of(windows.from, first, last),
                   outputs = rows_of(windows.to, first, last);
    for (size_t r = inputs.begin; r < inputs.end && !add; ++r) {
      std::fill_n(dx.data + r * dx.stride, conv.in, 0.0f);
    }
    const size_t step = rows_a_block(width);
    float* columns = grow(buffers.columns, step * width);
    for (size_t r = outputs.begin; r < outputs.end; r += step) {
      const RowRange rows{r, std::min(r + step, outputs.end)};
      for (size_t g = 0; g < conv.groups; ++g) {
        gemm(rows.size(), {dy.data + r * dy.stride + g * out, dy.stride}, weights[g],
             {columns, width});
        col2im(windows, rows, columns, in, {dx.data + g * in, dx.stride});
      }
    }
  });
}

// dweight (groups, out, taps, in) from these rows alone.
void weight_gradient_of(const Convolution& conv, RowRange rows, Matrix x, Matrix dy,
                        float* dweight) {
  const size_t in = conv.in_group(), out = conv.out_group(), width = conv.windows.taps() * in;
  if (conv.depthwise()) {
    std::fill_n(dweight, weights_of(conv), 0.0f);
    return depthwise_backward_weight(conv.windows, rows, x, dy, {dweight, conv.in});
  }
  const bool plain = conv.windows.trivial();  // x needs no rearrangement
  const size_t step = rows_a_sum(conv.groups * width);
  float* columns = plain ? nullptr : grow(buffers.columns, conv.groups * step * width);
  for (size_t r = rows.begin; r < rows.end; r += step) {
    const RowRange block{r, std::min(r + step, rows.end)};
    if (!plain) im2col(conv.windows, block, x, {conv.groups, in}, columns);
    for (size_t g = 0; g < conv.groups; ++g) {
      const Matrix under = plain ? Matrix{x.data + r * x.stride + g * in, x.stride}
                                 : Matrix{columns + g * block.size() * width, width};
      gemm(out, width, block.size(), {dy.data + r * dy.stride + g * out, dy.stride, true}, under,
           {dweight + g * out * width, width}, {.beta = r > rows.begin ? 1.0f : 0.0f});
    }
  }
}

}  // namespace

void conv_forward(const Convolution& conv, Matrix x, Matrix weight, const float* bias,
                  MutableMatrix y) {
  const size_t in = conv.in_group(), out = conv.out_group(), width = conv.windows.taps() * in;
  if (conv.depthwise()) {
    const float* taps = arrange(conv, weight, Layout::kTapChannel);
    return depthwise_forward({conv.windows, conv.in, taps, bias}, x, y);
  }
  const Matrix arranged{arrange(conv, weight, Layout::kOutTapIn), width, true};
  multiply({conv.windows, in, out, pack_groups(conv.groups, width, out, arranged), bias}, x, y);
}

void conv_backward_input(const Convolution& conv, Matrix dy, Matrix weight, MutableMatrix dx,
                         bool add) {
  const size_t in = conv.in_group(), out = conv.out_group(), width = conv.windows.taps() * out;
  const Windows windows = conv.windows.transpose();
  if (conv.depthwise()) {
    const float* taps = arrange(conv, weight, Layout::kTapChannel);
    return depthwise_forward({windows, conv.in, taps, nullptr, add}, dy, dx);
  }
  if (windows.vertical.stride > 1 || windows.horizontal.stride > 1) {
    return scatter_input_gradient(conv, dy, weight, dx, add);
  }
  const Matrix arranged{arrange(conv, weight, Layout::kTapOutIn), in};
  multiply({windows, out, in, pack_groups(conv.groups, width, in, arranged), nullptr, add}, dy, dx);
}

void conv_backward_weight(const Convolution& conv, Matrix x, Matrix dy, MutableMatrix dweight,
                          bool add) {
  const size_t rows = conv.windows.to.rows(), weights = weights_of(conv);
  const size_t rows_a_part = std::max<size_t>(512, (rows + 7) / 8);
  const size_t parts = chunk_count(rows, rows_a_part);
  float* partials = grow(buffers.partials, (parts + 1) * weights);
  float* sums = partials + parts * weights;
  parallel_for(rows, rows_a_part, [&](size_t begin, size_t end) {
    weight_gradient_of(conv, {begin, end}, x, dy, partials + begin / rows_a_part * weights);
  });
  parallel_for(weights, 16384, [&](size_t begin, size_t end) {
    sum_rows({partials + begin, parts, end - begin, weights}, sums + begin);
  });
  const Layout layout = conv.depthwise() ? Layout::kTapChannel : Layout::kOutTapIn;
  parallel_for(conv.out, outputs_a_chunk(conv), [&](size_t begin, size_t end) {
    for (size_t o = begin; o < end; ++o) {
      for_each_weight(conv, o, layout, [&](size_t place, size_t i) {
        float& to = dweight.data[weight_offset(conv, i, dweight.stride)];
        to = add ? to + sums[place] : sums[place];
      });
    }
  });
}

}  // namespace attend::kernels
