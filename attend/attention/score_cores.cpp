// The cores that scores are reduced to: all pairs of one head, with all scores in memory.
#include <algorithm>
#include <cmath>

#include "attend/attention/scores.h"
#include "attend/base/parallel.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/linear.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// y[i, j] = f(q row i, k row j), one row of y at a time.
template <typename F>
Tensor for_pairs(const Tensor& q, const Tensor& k, const F& f) {
  Tensor y = Tensor::empty({q.rows(), k.rows()});
  parallel_for(q.rows(), 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = 0; j < k.rows(); ++j) {
        y.data()[i * k.rows() + j] = f(q.data() + i * q.stride(), k.data() + j * k.stride());
      }
    }
  });
  return y;
}

// Calls f(pair's gradient, i, j) for all pairs that have one. A pair without one is masked, and
// what it holds is not looked at.
template <typename F>
void for_gradients(const Tensor& dy, const F& f) {
  for (size_t i = 0; i < dy.rows(); ++i) {
    for (size_t j = 0; j < dy.width(); ++j) {
      const float d = dy.data()[i * dy.stride() + j];
      if (d != 0.0f) f(d, i, j);
    }
  }
}

// The rows of x, and where their gradients are added; null if nobody wants them.
struct RowGradients {
  RowGradients(const Tensor& tensor, Grads& grads)
      : x(tensor.data()),
        dx(grads.wants(tensor) ? grads.accumulator(tensor) : nullptr),
        stride(tensor.stride()) {}
  const float* row(size_t i) const { return x + i * stride; }
  void add(size_t i, size_t c, float value) const {
    if (dx != nullptr) dx[i * stride + c] += value;
  }
  const float* x;
  float* dx;
  size_t stride;
};

// matmul for rows that hold NaN or infinity: these stay with the pairs that look at them.
Tensor careful_dot_scores(const Tensor& q, const Tensor& k) {
  const size_t width = q.width();
  const Tensor y = for_pairs(q, k, [width](const float* a, const float* b) {
    float sum = 0.0f;
    for (size_t c = 0; c < width; ++c) sum += a[c] * b[c];
    return sum;
  });
  return record(y, {q, k}, [=](const Tensor& dy, Grads& grads) {
    const RowGradients a(q, grads), b(k, grads);
    for_gradients(dy, [&](float d, size_t i, size_t j) {
      for (size_t c = 0; c < width; ++c) {
        a.add(i, c, d * b.row(j)[c]);
        b.add(j, c, d * a.row(i)[c]);
      }
    });
  });
}

Tensor distance_scores(const Tensor& q, const Tensor& k) {
  const size_t width = q.width();
  const Tensor y = for_pairs(q, k, [width](const float* a, const float* b) {
    float sum = 0.0f;
    for (size_t c = 0; c < width; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return -sum;
  });
  return record(y, {q, k}, [=](const Tensor& dy, Grads& grads) {
    const RowGradients a(q, grads), b(k, grads);
    for_gradients(dy, [&](float d, size_t i, size_t j) {
      for (size_t c = 0; c < width; ++c) {
        const float g = -2.0f * d * (a.row(i)[c] - b.row(j)[c]);
        a.add(i, c, g);
        b.add(j, c, -g);
      }
    });
  });
}

// 1 - tanh^2 without its cancellation.
float tanh_slope(float x) {
  const float e = std::exp(-2.0f * std::abs(x));
  return 4.0f * e / ((1.0f + e) * (1.0f + e));
}

Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& vector) {
  const size_t width = q.width();
  const Tensor y = for_pairs(q, k, [&](const float* a, const float* b) {
    float sum = 0.0f;
    for (size_t c = 0; c < width; ++c) sum += vector.data()[c] * std::tanh(a[c] + b[c]);
    return sum;
  });
  return record(y, {q, k, vector}, [=](const Tensor& dy, Grads& grads) {
    const RowGradients a(q, grads), b(k, grads), v(vector, grads);
    for_gradients(dy, [&](float d, size_t i, size_t j) {
      for (size_t c = 0; c < width; ++c) {
        const float sum = a.row(i)[c] + b.row(j)[c];
        const float g = d * v.x[c] * tanh_slope(sum);
        v.add(0, c, d * std::tanh(sum));
        a.add(i, c, g);
        b.add(j, c, g);
      }
    });
  });
}

}  // namespace

bool all_finite(const Tensor& x) { return kernels::all_finite(rows_of(x)); }

Tensor core_scores(ScoreCore core, const Tensor& q, const Tensor& k, const Tensor& vector,
                   size_t keys) {
  switch (core) {
    case ScoreCore::kDot:
      return all_finite(q) && all_finite(k) ? matmul(q, k, {.transpose_b = true})
                                            : careful_dot_scores(q, k);
    case ScoreCore::kAdditive:
      return additive_scores(q, k, vector);
    case ScoreCore::kDistance:
      return distance_scores(q, k);
    case ScoreCore::kPlace:
      return q.slice_columns(0, keys);
  }
  return {};
}

}  // namespace attend
