// How the windows of convolutions and of pooling lie over the rows of a batch. A row holds the
// channels of one place; a packed sequence is an image one place high.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attend::kernels {

// A window along one axis, and the padding of zeros before and after what it moves over.
struct WindowAxis {
  size_t kernel = 1, stride = 1, dilation = 1;
  size_t before = 0, after = 0;

  size_t span() const { return (kernel - 1) * dilation + 1; }

  // How many windows fit over `extent` places and the padding; none over nothing.
  size_t count(size_t extent) const {
    const size_t padded = extent + before + after;
    return extent == 0 || padded < span() ? 0 : (padded - span()) / stride + 1;
  }
};

struct Image {
  size_t row, height, width;  // the first row, and the extents
};

// Which rows belong together: images of one size, or sequences, one after another.
struct Places {
  size_t count = 0, height = 1, width = 0;
  const int32_t* offsets = nullptr;  // (count + 1) borders of the sequences, whose widths differ

  static Places images(size_t count, size_t height, size_t width) { return {count, height, width}; }
  static Places sequences(std::span<const int32_t> offsets) {
    return {offsets.size() - 1, 1, 0, offsets.data()};
  }

  size_t rows() const {
    return offsets ? static_cast<size_t>(offsets[count]) : count * height * width;
  }
  Image image(size_t i) const;
  size_t image_of(size_t row) const;  // the image that holds a row
};

// No row: the tap lies in the padding.
inline constexpr size_t kOutside = SIZE_MAX;

// One window for each row of `to`, over the rows of `from`.
struct Windows {
  WindowAxis vertical, horizontal;
  Places from, to;
  bool transposed = false;

  // The same pairs of rows seen from the other side: for each row of `from` the windows it lies
  // under.
  Windows transpose() const { return {vertical, horizontal, to, from, !transposed}; }

  size_t taps() const { return vertical.kernel * horizontal.kernel; }
  // Whether each window is just its own row.
  bool trivial() const;
};

struct RowRange {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

// Goes through the rows of windows.to from `begin` and tells for each which rows lie under its
// taps.
class WindowWalk {
 public:
  WindowWalk(const Windows& windows, size_t begin);

  size_t row() const { return row_; }
  std::span<const size_t> sources() const {
    return sources_;
  }  // a row of `from`, or kOutside, per tap
  void next();

 private:
  void find_sources();

  const Windows& windows_;
  std::vector<size_t> sources_;
  size_t row_, image_ = 0, y_ = 0, x_ = 0;
  Image from_{}, to_{};
};

}  // namespace attend::kernels
