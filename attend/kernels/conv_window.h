// How the windows of convolutions and pooling lie over the rows of a batch. A row holds the
// channels of one place; a packed sequence is an image of height 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attend::kernels {

// A window along one axis, and the zero padding before and after.
struct WindowAxis {
  size_t kernel = 1, stride = 1, dilation = 1;
  size_t before = 0, after = 0;

  // Places from its first tap to its last.
  size_t span() const { return (kernel - 1) * dilation + 1; }

  // How many windows fit over `extent` places and the padding; 0 if extent is 0.
  size_t count(size_t extent) const {
    const size_t padded = extent + before + after;
    return extent == 0 || padded < span() ? 0 : (padded - span()) / stride + 1;
  }
};

// One image or sequence of a batch.
struct Image {
  size_t row, height, width;  // the first row, and the extents
};

// Which rows belong together: images of one size, or sequences, one after another.
struct Places {
  size_t count = 0, height = 1, width = 0;
  const int32_t* offsets = nullptr;  // (count + 1) borders of the sequences, whose widths differ

  // A batch of images, and a packed batch of sequences.
  static Places images(size_t count, size_t height, size_t width) { return {count, height, width}; }
  static Places sequences(std::span<const int32_t> offsets) {
    return {offsets.size() - 1, 1, 0, offsets.data()};
  }

  // Of all images or sequences.
  size_t rows() const {
    return offsets ? static_cast<size_t>(offsets[count]) : count * height * width;
  }
  Image image(size_t i) const;        // number i
  size_t image_of(size_t row) const;  // the image that holds a row
};

// No row: the tap lies in the padding.
inline constexpr size_t kOutside = SIZE_MAX;

// One window for each row of `to`, over the rows of `from`.
struct Windows {
  WindowAxis vertical, horizontal;
  Places from, to;
  bool transposed = false;

  // The same pairs of rows in the other direction: for each row of `from` the windows that cover
  // it.
  Windows transpose() const { return {vertical, horizontal, to, from, !transposed}; }

  size_t taps() const { return vertical.kernel * horizontal.kernel; }  // of a window
  // Whether each window is just its own row.
  bool trivial() const;
};

// Rows [begin, end).
struct RowRange {
  size_t begin, end;
  size_t size() const { return end - begin; }  // number of rows
};

// Iterates over the rows of windows.to from `begin`, with the source row of each tap.
class WindowWalk {
 public:
  WindowWalk(const Windows& windows, size_t begin);

  size_t row() const { return row_; }  // of `to`, now
  // For each tap a row of `from`, or kOutside.
  std::span<const size_t> sources() const { return sources_; }
  void next();  // goes to the next row

 private:
  void find_sources();

  const Windows& windows_;
  std::vector<size_t> sources_;
  size_t row_, image_ = 0, y_ = 0, x_ = 0;
  Image from_{}, to_{};
};

}  // namespace attend::kernels
