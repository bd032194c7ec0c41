#include "attend/attention/alignment.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/kernels/activations.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/reduce.h"
#include "attend/kernels/softmax.h"
#include "attend/ops/embedding.h"
#include "attend/ops/matrix.h"
#include "attend/ops/rows.h"
#include "attend/ops/shape.h"

namespace attend {
namespace {

using kernels::dense_rows;

Packing pairs_of(const Packing& keys, std::span<const size_t> sources) {
  std::vector<int32_t> lengths;
  for (const size_t source : sources) {
    if (source >= keys.count()) {
      throw ShapeError("alignment: there is no source {} among {}", source, keys.count());
    }
    lengths.push_back(static_cast<int32_t>(keys.length(source)));
  }
  return Packing(lengths);
}

std::vector<size_t> first_numbers(size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

void check(const Tensor& x, const Shape& shape, const char* what) {
  if (!x.defined() || x.shape() != shape) {
    throw ShapeError("alignment: {} are {}, not {}", what,
                     x.defined() ? x.shape().text() : "undefined", shape);
  }
}

void check_parent(const Alignment& at, size_t parent) {
  if (parent >= at.queries()) {
    throw ShapeError("alignment: there is no sequence {} among {}", parent, at.queries());
  }
}

// Calls f(query) for all queries, on several threads.
template <typename F>
void for_queries(const Alignment& at, size_t width, const F& f) {
  const size_t grain = 1 + 16384 / (1 + at.pairs.longest() * width);
  parallel_for(at.queries(), grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) f(i);
  });
}

// The same where f adds to rows of the keys, which queries of one source share.
template <typename F>
void for_key_writers(const Alignment& at, size_t width, const F& f) {
  std::vector<size_t> sources = at.sources;
  std::ranges::sort(sources);
  if (std::ranges::adjacent_find(sources) == sources.end()) return for_queries(at, width, f);
  for (size_t i = 0; i < at.queries(); ++i) f(i);
}

// The rows of x, a tensor of keys, that a query sees.
float* keys_of(const Alignment& at, size_t query, float* x, size_t stride) {
  return x + at.keys.begin(at.sources[query]) * stride;
}

// q + k + L f of one query, to (keys, width).
void sum_up(const Alignment& at, const AlignmentScores& in, const kernels::PackedMatrix& location,
            size_t query, float* out) {
  const size_t keys = at.pairs.length(query), width = in.q.width();
  const float* k = keys_of(at, query, in.k.data(), in.k.stride());
  kernels::copy_rows({k, keys, width, in.k.stride()}, dense_rows(out, keys, width));
  const float* f = in.features.data() + at.pairs.begin(query) * in.features.stride();
  kernels::gemm(keys, {f, in.features.stride()}, location, {out, width},
                {.beta = 1.0f, .bias = in.q.data() + query * in.q.stride()});
}

kernels::PackedMatrix packed(const Tensor& location) {
  return {location.extent(1), location.extent(0), matrix(location, true)};
}

// The gradient of z = q + k + L f, [pairs, width], computed again; on the way those of q and v.
Tensor inner_gradient(const Alignment& at, const AlignmentScores& in, const Tensor& dy,
                      Grads& grads) {
  const size_t width = in.q.width();
  const kernels::PackedMatrix location = packed(in.location);
  Tensor dz = Tensor::empty({at.pairs.rows(), width});
  const Tensor dvectors = Tensor::empty({at.queries(), width});  // a part of each query
  const Gradient dq = grads.wants(in.q) ? grads.of(in.q) : Gradient{};
  for_queries(at, width, [&](size_t i) {
    const size_t first = at.pairs.begin(i), keys = at.pairs.length(i);
    const kernels::MutableRows z = dense_rows(dz.data() + first * width, keys, width);
    const Tensor tanhs = Tensor::empty({keys, width});
    sum_up(at, in, location, i, tanhs.data());
    kernels::tanh_with_slope(tanhs.data(), tanhs.data(), z.data, keys * width);
    kernels::gemm(1, width, keys, {dy.data() + first, keys}, matrix(tanhs),
                  {dvectors.data() + i * width, width});
    // dz = dy v (1 - tanh^2)
    kernels::multiply_row_vector(z, in.vector.data(), z);
    kernels::multiply_column_vector(z, dy.data() + first, z);
    if (dq.tensor.defined()) kernels::sum_rows(z, dq.data() + i * dq.tensor.stride(), dq.add);
  });
  if (grads.wants(in.vector)) {
    const Gradient to = grads.of(in.vector);
    kernels::sum_rows(rows_of(dvectors), to.data(), to.add);
  }
  return dz;
}

void scores_backward(const Alignment& at, const AlignmentScores& in, const Tensor& dy,
                     Grads& grads) {
  const size_t pairs = at.pairs.rows(), width = in.q.width(), features = in.features.width();
  const Tensor dz = inner_gradient(at, in, dy, grads);
  if (grads.wants(in.k)) {
    float* dk = grads.accumulator(in.k);
    const size_t stride = in.k.stride();
    for_key_writers(at, width, [&](size_t i) {
      const size_t keys = at.pairs.length(i);
      kernels::copy_rows(dense_rows(dz.data() + at.pairs.begin(i) * width, keys, width),
                         {keys_of(at, i, dk, stride), keys, width, stride}, true);
    });
  }
  if (grads.wants(in.features)) {
    const Gradient to = grads.of(in.features);
    kernels::gemm(pairs, features, width, matrix(dz), matrix(in.location), target(to.tensor),
                  into(to));
  }
  if (grads.wants(in.location)) {
    const Gradient to = grads.of(in.location);
    kernels::gemm(width, features, pairs, matrix(dz, true), matrix(in.features), target(to.tensor),
                  into(to));
  }
}

}  // namespace

Alignment::Alignment(const Packing& packing) : Alignment(packing, first_numbers(packing.count())) {}

Alignment::Alignment(Packing packing, std::vector<size_t> of)
    : keys(std::move(packing)), sources(std::move(of)), pairs(pairs_of(keys, sources)) {}

Alignment Alignment::reordered(std::span<const size_t> parents) const {
  std::vector<size_t> fresh;
  for (const size_t parent : parents) {
    check_parent(*this, parent);
    fresh.push_back(sources[parent]);
  }
  return {keys, std::move(fresh)};
}

Tensor alignment_scores(const Alignment& at, const AlignmentScores& in) {
  const size_t width = in.vector.defined() ? in.vector.size() : 0;
  const size_t features = in.location.defined() ? in.location.width() : 0;
  check(in.vector, {width}, "the vector's numbers");
  check(in.q, {at.queries(), width}, "queries");
  check(in.k, {at.keys.rows(), width}, "keys");
  check(in.location, {width, features}, "the features' weights");
  check(in.features, {at.pairs.rows(), features}, "features");
  const Tensor scores = Tensor::empty({at.pairs.rows()});
  const kernels::PackedMatrix location = packed(in.location);
  for_queries(at, width, [&, to = scores.data()](size_t i) {
    const size_t keys = at.pairs.length(i);
    const Tensor inner = Tensor::empty({keys, width});
    sum_up(at, in, location, i, inner.data());
    // By itself it is faster than within so thin a product.
    kernels::activate(kernels::Activation::kTanh, inner.data(), inner.data(), keys * width);
    kernels::dot_rows(rows_of(inner), {in.vector.data(), keys, width, 0}, to + at.pairs.begin(i));
  });
  return record(scores, {in.q, in.k, in.vector, in.location, in.features},
                [at, in](const Tensor& dy, Grads& grads) { scores_backward(at, in, dy, grads); });
}

Tensor alignment_softmax(const Alignment& at, const Tensor& x) {
  check(x, {at.pairs.rows()}, "scores");
  const auto row = [at](float* data, size_t i) {
    return dense_rows(data + at.pairs.begin(i), 1, at.pairs.length(i));
  };
  const Tensor y = Tensor::like(x);
  for_queries(at, 1, [&](size_t i) { kernels::softmax(row(x.data(), i), row(y.data(), i)); });
  return record(y, {x}, [=, y = y.detach()](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    for_queries(at, 1, [&](size_t i) {
      kernels::softmax_backward(row(y.data(), i), row(dy.data(), i), row(dx.data(), i), dx.add);
    });
  });
}

Tensor alignment_sum(const Alignment& at, const Tensor& weights, const Tensor& values) {
  const size_t width = values.defined() ? values.width() : 0, stride = values.stride();
  check(weights, {at.pairs.rows()}, "weights");
  check(values, {at.keys.rows(), width}, "values");
  const Tensor y = Tensor::empty({at.queries(), width});
  for_queries(at, width, [&](size_t i) {
    const size_t keys = at.pairs.length(i);
    kernels::gemm(1, width, keys, {weights.data() + at.pairs.begin(i), keys},
                  {keys_of(at, i, values.data(), stride), stride}, {y.data() + i * width, width});
  });
  return record(y, {weights, values}, [=](const Tensor& dy, Grads& grads) {
    const auto dy_of = [&](size_t i) { return dy.data() + i * dy.stride(); };
    if (grads.wants(weights)) {
      const Gradient to = grads.of(weights);
      for_queries(at, width, [&](size_t i) {
        const size_t keys = at.pairs.length(i);
        kernels::dot_rows({keys_of(at, i, values.data(), stride), keys, width, stride},
                          {dy_of(i), keys, width, 0}, to.data() + at.pairs.begin(i), to.add);
      });
    }
    if (!grads.wants(values)) return;
    float* dvalues = grads.accumulator(values);
    for_key_writers(at, width, [&](size_t i) {
      const size_t keys = at.pairs.length(i);
      kernels::multiply_column_vector({dy_of(i), keys, width, 0},
                                      weights.data() + at.pairs.begin(i),
                                      {keys_of(at, i, dvalues, stride), keys, width, stride}, true);
    });
  });
}

Tensor reorder_pairs(const Alignment& at, const Tensor& x, std::span<const size_t> parents) {
  check(x, {at.pairs.rows()}, "numbers");
  std::vector<int32_t> rows;
  for (const size_t parent : parents) {
    check_parent(at, parent);
    for (size_t row = at.pairs.begin(parent); row < at.pairs.end(parent); ++row) {
      rows.push_back(static_cast<int32_t>(row));
    }
  }
  return reshape(gather_rows(x.reshape({x.size(), 1}), Tensor::ids(rows, {rows.size()})),
                 {rows.size()});
}

}  // namespace attend
