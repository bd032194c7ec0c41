#include "attend/ops/maxout.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr size_t kRows = 64;  // that a thread takes at a time

template <typename F>
void for_pairs(const Tensor& x, size_t width, const F& f) {
  parallel_for(x.rows(), kRows, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = 0; j < width; ++j) f(i, j, x.data() + i * x.stride() + 2 * j);
    }
  });
}

}  // namespace

Tensor maxout(const Tensor& x) {
  if (x.rank() == 0 || x.width() % 2 != 0) {
    throw ShapeError("maxout: {} has no pairs of columns", x.shape());
  }
  const size_t width = x.width() / 2;
  Shape shape = x.shape();
  shape.set(-1, width);
  const Tensor y = Tensor::empty(shape);
  for_pairs(x, width, [&, to = y.data()](size_t i, size_t j, const float* pair) {
    to[i * width + j] = std::max(pair[0], pair[1]);
  });
  return record(y, {x}, [x, width](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    const size_t stride = dx.tensor.stride();
    for_pairs(x, width, [&, from = dy.data(), to = dx.data()](size_t i, size_t j, const float* p) {
      const float d = from[i * width + j];
      float* pair = to + i * stride + 2 * j;
      const bool second = p[1] > p[0];
      pair[0] = (dx.add ? pair[0] : 0.0f) + (second ? 0.0f : d);
      pair[1] = (dx.add ? pair[1] : 0.0f) + (second ? d : 0.0f);
    });
  });
}

}  // namespace attend
