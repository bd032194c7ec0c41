// Pooling over whole images or sequences, each the work of one thread.
#include <algorithm>

#include "attend/base/parallel.h"
#include "attend/kernels/pool.h"
#include "attend/kernels/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/pool_each.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// The largest of the rows of x, and where it is.
void MaxOfRows(Rows x, float* y, float* choice) {
  const D d;
  ForLanes(x.width, [&](size_t c, auto lanes) {
    V best = x.count == 0 ? hn::Zero(d) : lanes.Load(x.row(0) + c);
    V from = hn::Set(d, x.count == 0 ? -1.0f : 0.0f);
    for (size_t r = 1; r < x.count; ++r) {
      const V value = lanes.Load(x.row(r) + c);
      const auto better = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
      best = hn::IfThenElse(better, value, best);
      from = hn::IfThenElse(better, hn::Set(d, static_cast<float>(r)), from);
    }
    lanes.Store(best, y + c);
    if (choice != nullptr) lanes.Store(from, choice + c);
  });
}

void ScaleRow(float scale, size_t size, float* y) {
  ForLanes(size, [&](size_t i, auto lanes) {
    lanes.Store(hn::Mul(hn::Set(D(), scale), lanes.Load(y + i)), y + i);
  });
}

// Each row of dx = scale dy, or += where `add`.
void SpreadRow(float scale, const float* dy, MutableRows dx, bool add) {
  const D d;
  for (size_t r = 0; r < dx.count; ++r) {
    float* to = dx.row(r);
    ForLanes(dx.width, [&](size_t i, auto lanes) {
      const V before = add ? lanes.Load(to + i) : hn::Zero(d);
      lanes.Store(hn::MulAdd(hn::Set(d, scale), lanes.Load(dy + i), before), to + i);
    });
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(MaxOfRows);
HWY_EXPORT(ScaleRow);
HWY_EXPORT(SpreadRow);

namespace {

// Calls body(image, first row, rows) for each.
template <typename Body>
void for_each_image(const Places& places, size_t channels, Body&& body) {
  const size_t grain = 1 + 32768 * places.count / (places.rows() * channels + 1);
  parallel_for(places.count, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Image image = places.image(i);
      body(i, image.row, image.height * image.width);
    }
  });
}

float mean_scale(size_t rows) { return rows == 0 ? 0.0f : 1.0f / static_cast<float>(rows); }

}  // namespace

void max_each(const Places& places, Rows x, float* y, float* choice) {
  for_each_image(places, x.width, [&](size_t image, size_t row, size_t rows) {
    const size_t at = image * x.width;
    HWY_DYNAMIC_DISPATCH(MaxOfRows)
    ({x.row(row), rows, x.width, x.stride}, y + at, choice == nullptr ? nullptr : choice + at);
  });
}

void max_each_backward(const Places& places, const float* choice, const float* dy, MutableRows dx,
                       bool add) {
  for_each_image(places, dx.width, [&](size_t image, size_t row, size_t rows) {
    for (size_t r = row; r < row + rows && !add; ++r) std::fill_n(dx.row(r), dx.width, 0.0f);
    for (size_t c = 0; c < dx.width && rows > 0; ++c) {
      const size_t at = image * dx.width + c;
      dx.row(row + static_cast<size_t>(choice[at]))[c] += dy[at];
    }
  });
}

void mean_each(const Places& places, Rows x, float* y) {
  for_each_image(places, x.width, [&](size_t image, size_t row, size_t rows) {
    sum_rows({x.row(row), rows, x.width, x.stride}, y + image * x.width);
    HWY_DYNAMIC_DISPATCH(ScaleRow)(mean_scale(rows), x.width, y + image * x.width);
  });
}

void mean_each_backward(const Places& places, const float* dy, MutableRows dx, bool add) {
  for_each_image(places, dx.width, [&](size_t image, size_t row, size_t rows) {
    HWY_DYNAMIC_DISPATCH(SpreadRow)
    (mean_scale(rows), dy + image * dx.width, {dx.row(row), rows, dx.width, dx.stride}, add);
  });
}

}  // namespace attend::kernels
#endif
