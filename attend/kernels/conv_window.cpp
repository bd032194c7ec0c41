#include "attend/kernels/conv_window.h"

namespace attend::kernels {
namespace {

// The place under a tap of the window at `place`, out of `extent`, or kOutside. Places before the
// first wrap around to past the last.
size_t source(const WindowAxis& axis, size_t place, size_t tap, size_t extent, bool transposed) {
  if (!transposed) {
    const size_t at = place * axis.stride + tap * axis.dilation - axis.before;
    return at < extent ? at : kOutside;
  }
  const size_t ahead = place + axis.before - tap * axis.dilation;
  if (axis.stride == 1) return ahead < extent ? ahead : kOutside;  // most often, and no division
  const size_t at = ahead / axis.stride;
  return at < extent && at * axis.stride == ahead ? at : kOutside;
}

bool trivial_axis(const WindowAxis& axis) {
  return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 && axis.after == 0;
}

}  // namespace

Image Places::image(size_t i) const {
  if (offsets == nullptr) return {i * height * width, height, width};
  const auto begin = static_cast<size_t>(offsets[i]), end = static_cast<size_t>(offsets[i + 1]);
  return {begin, 1, end - begin};
}

size_t Places::image_of(size_t row) const {
  if (offsets == nullptr) return row / (height * width);
  const auto past = std::upper_bound(offsets, offsets + count + 1, static_cast<int32_t>(row));
  return static_cast<size_t>(past - offsets) - 1;
}

bool Windows::trivial() const { return trivial_axis(vertical) && trivial_axis(horizontal); }

WindowWalk::WindowWalk(const Windows& windows, size_t begin)
    : windows_(windows), sources_(windows.taps()), row_(begin) {
  if (begin >= windows.to.rows()) return;
  image_ = windows.to.image_of(begin);
  to_ = windows.to.image(image_);
  from_ = windows.from.image(image_);
  y_ = (begin - to_.row) / to_.width;
  x_ = (begin - to_.row) % to_.width;
  find_sources();
}

void WindowWalk::next() {
  ++row_;
  if (++x_ == to_.width) {
    x_ = 0;
    ++y_;
  }
  while (y_ == to_.height || to_.width == 0) {  // past empty sequences, to the next image
    if (++image_ == windows_.to.count) return;
    to_ = windows_.to.image(image_);
    from_ = windows_.from.image(image_);
    y_ = 0;
  }
  find_sources();
}

void WindowWalk::find_sources() {
  const auto& [vertical, horizontal, from, to, transposed] = windows_;
  size_t* out = sources_.data();
  for (size_t v = 0; v < vertical.kernel; ++v) {
    const size_t y = source(vertical, y_, v, from_.height, transposed);
    for (size_t h = 0; h < horizontal.kernel; ++h) {
      const size_t x = source(horizontal, x_, h, from_.width, transposed);
      *out++ = y == kOutside || x == kOutside ? kOutside : from_.row + y * from_.width + x;
    }
  }
}

}  // namespace attend::kernels
