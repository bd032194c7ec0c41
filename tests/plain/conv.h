// Plain convolutions and pooling in double: direct loops, to be read.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>

#include "attend/ops/pool.h"
#include "tests/plain/plain.h"

namespace attend::plain {

// The images of a batch, a packed sequence being one place high.
struct PlainImage {
  size_t row, height, width;
};

inline std::vector<PlainImage> images_of(const Packing& packing) {
  std::vector<PlainImage> images;
  for (size_t i = 0; i < packing.count(); ++i)
    images.push_back({packing.begin(i), 1, packing.length(i)});
  return images;
}

inline std::vector<PlainImage> images_of(const Plain& x) {
  std::vector<PlainImage> images;
  const size_t height = x.shape[1], width = x.shape[2];
  for (size_t i = 0; i < x.shape[0]; ++i) images.push_back({i * height * width, height, width});
  return images;
}

struct PlainWindow {
  Extent2 kernel, stride, dilation, before, after;
};

// Calls visit(y_row, tap, x_row) for every tap that is inside, image by image; returns the number
// of rows of y.
inline size_t for_each_tap(const std::vector<PlainImage>& images, const PlainWindow& w,
                           const std::function<void(size_t, size_t, size_t)>& visit) {
  const auto count = [&](size_t Extent2::*along, size_t extent) -> size_t {
    const size_t padded = extent + w.before.*along + w.after.*along;
    const size_t span = (w.kernel.*along - 1) * (w.dilation.*along) + 1;
    return extent == 0 || padded < span ? 0 : (padded - span) / (w.stride.*along) + 1;
  };
  size_t y_row = 0;
  for (const PlainImage& image : images) {
    const size_t height = count(&Extent2::height, image.height),
                 width = count(&Extent2::width, image.width);
    for (size_t y = 0; y < height; ++y) {
      for (size_t x = 0; x < width; ++x, ++y_row) {
        for (size_t tap = 0; tap < w.kernel.height * w.kernel.width; ++tap) {
          const size_t v = tap / w.kernel.width, h = tap % w.kernel.width;
          const auto at_y = static_cast<long>(y * w.stride.height + v * w.dilation.height) -
                            static_cast<long>(w.before.height);
          const auto at_x = static_cast<long>(x * w.stride.width + h * w.dilation.width) -
                            static_cast<long>(w.before.width);
          if (at_y < 0 || at_x < 0 || at_y >= static_cast<long>(image.height) ||
              at_x >= static_cast<long>(image.width)) {
            continue;
          }
          visit(y_row, tap,
                image.row + static_cast<size_t>(at_y) * image.width + static_cast<size_t>(at_x));
        }
      }
    }
  }
  return y_row;
}

// inputs: x, weight, and bias if there is one; `y` has its final shape.
inline Plain conv(const std::vector<Plain>& inputs, Plain y, const std::vector<PlainImage>& images,
                  const PlainWindow& window, size_t groups) {
  const Plain &x = inputs[0], &weight = inputs[1];
  const size_t taps = window.kernel.height * window.kernel.width, out = weight.shape[0];
  const size_t in_group = weight.shape[1], out_group = out / groups;
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = inputs.size() > 2 ? inputs[2].values[i % out] : 0;
  for_each_tap(images, window, [&](size_t y_row, size_t tap, size_t x_row) {
    for (size_t o = 0; o < out; ++o) {
      for (size_t c = 0; c < in_group; ++c) {
        y(y_row, o) +=
            weight.values[(o * in_group + c) * taps + tap] * x(x_row, o / out_group * in_group + c);
      }
    }
  });
  return y;
}

inline size_t row_count(const std::vector<PlainImage>& images, const PlainWindow& window) {
  return for_each_tap(images, window, [](size_t, size_t, size_t) {});
}

inline Plain conv1d(const std::vector<Plain>& inputs, const Packing& packing,
                    const Conv1dOptions& o) {
  const PlainWindow window{
      {1, inputs[1].shape[2]}, {1, o.stride}, {1, o.dilation}, {0, o.left}, {0, o.right}};
  const auto images = images_of(packing);
  return conv(inputs, Plain({row_count(images, window), inputs[1].shape[0]}), images, window,
              o.groups);
}

// The shape of the windows over a batch of images, with this many channels.
inline Shape image_shape(const Plain& x, const PlainWindow& w, size_t channels) {
  const auto count = [&](size_t Extent2::*along, size_t extent) {
    return (extent + 2 * (w.before.*along) - (w.kernel.*along - 1) * (w.dilation.*along) - 1) /
               (w.stride.*along) +
           1;
  };
  return {x.shape[0], count(&Extent2::height, x.shape[1]), count(&Extent2::width, x.shape[2]),
          channels};
}

inline Plain conv2d(const std::vector<Plain>& inputs, const Conv2dOptions& o) {
  const Plain &x = inputs[0], &weight = inputs[1];
  const PlainWindow window{
      {weight.shape[2], weight.shape[3]}, o.stride, o.dilation, o.padding, o.padding};
  return conv(inputs, Plain(image_shape(x, window, weight.shape[0])), images_of(x), window,
              o.groups);
}

enum class Pool { kMax, kMean, kMeanOfAll };

inline Plain pool(Pool kind, const Plain& x, Plain y, const std::vector<PlainImage>& images,
                  const PlainWindow& window) {
  std::vector<double> counts(y.rows(), 0);
  for_each_tap(images, window, [&](size_t y_row, size_t, size_t x_row) {
    const bool first = counts[y_row]++ == 0;
    for (size_t c = 0; c < x.width(); ++c) {
      double& to = y(y_row, c);
      to = kind != Pool::kMax ? to + x(x_row, c) : first ? x(x_row, c) : std::max(to, x(x_row, c));
    }
  });
  const auto taps = static_cast<double>(window.kernel.height * window.kernel.width);
  for (size_t i = 0; i < y.values.size() && kind != Pool::kMax; ++i) {
    y.values[i] /= kind == Pool::kMeanOfAll ? taps : std::max(1.0, counts[i / y.width()]);
  }
  return y;
}

inline Plain pool1d(Pool kind, const Plain& x, const Packing& packing, const Pool1dOptions& o) {
  const PlainWindow window{{1, o.kernel},
                           {1, o.stride == 0 ? o.kernel : o.stride},
                           {1, o.dilation},
                           {0, o.left},
                           {0, o.right}};
  const auto images = images_of(packing);
  return pool(kind, x, Plain({row_count(images, window), x.width()}), images, window);
}

inline Plain pool2d(Pool kind, const Plain& x, const Pool2dOptions& o) {
  const PlainWindow window{o.kernel, o.stride == Extent2(0) ? o.kernel : o.stride, o.dilation,
                           o.padding, o.padding};
  return pool(kind, x, Plain(image_shape(x, window, x.width())), images_of(x), window);
}

// The largest or the mean of each image as a whole; 0 of an empty one.
inline Plain pool_each(Pool kind, const Plain& x, const std::vector<PlainImage>& images) {
  Plain y({images.size(), x.width()});
  for (size_t i = 0; i < images.size(); ++i) {
    const size_t rows = images[i].height * images[i].width;
    for (size_t c = 0; c < x.width() && rows > 0; ++c) {
      y(i, c) = kind == Pool::kMax ? -std::numeric_limits<double>::infinity() : 0.0;
      for (size_t r = images[i].row; r < images[i].row + rows; ++r) {
        y(i, c) = kind == Pool::kMax ? std::max(y(i, c), x(r, c))
                                     : y(i, c) + x(r, c) / static_cast<double>(rows);
      }
    }
  }
  return y;
}

}  // namespace attend::plain
