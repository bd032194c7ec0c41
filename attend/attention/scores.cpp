#include "attend/attention/scores.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/base/printable.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/ops/norm.h"
#include "attend/ops/rows.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// A product of rows with a weight [out, in], after a check that names it.
Tensor project(const Tensor& x, const Tensor& weight, const char* score, const char* what) {
  if (!weight.defined() || weight.rank() != 2 || weight.extent(1) != x.width()) {
    throw ShapeError("attention: score {} needs a {} weight [..., {}], but it is {}", score, what,
                     x.width(), weight.defined() ? weight.shape().text() : "undefined");
  }
  return linear(x, weight);
}

Tensor queries_of(const ScoreInputs& in) { return in.read_queries ? in.read_queries(in.q) : in.q; }
Tensor keys_of(const ScoreInputs& in, const Tensor& x) {
  return in.read_keys ? in.read_keys(x) : x;
}

Tensor unit_rows(const Tensor& x, size_t heads) {
  const size_t width = x.width() / heads;
  const Tensor rows = rms_norm(reshape(x, {x.rows() * heads, width}), {}, 1e-12f);
  return reshape(rows, x.shape());
}

PreparedScore dot(const ScoreInputs& in) { return {ScoreCore::kDot, in.q, in.k, {}, 1.0f}; }

PreparedScore scaled_dot(const ScoreInputs& in) {
  const size_t head_width = in.q.width() / in.heads;
  const auto width = static_cast<float>(head_width);
  return {ScoreCore::kDot, in.q, in.k, {}, 1.0f / std::sqrt(width)};
}

PreparedScore general(const ScoreInputs& in) {
  return {ScoreCore::kDot,
          project(queries_of(in), in.weights.query, "general", "query"),
          in.k,
          {},
          1.0f};
}

PreparedScore cosine(const ScoreInputs& in) {
  const size_t head_width = in.q.width() / in.heads;
  const auto width = static_cast<float>(head_width);
  return {ScoreCore::kDot,
          unit_rows(queries_of(in), in.heads),
          unit_rows(keys_of(in, in.k), in.kv_heads),
          {},
          1.0f / width};
}

PreparedScore distance(const ScoreInputs& in) {
  return {ScoreCore::kDistance, in.q, in.k, {}, 1.0f};
}

PreparedScore additive_of(const ScoreInputs& in, const Tensor& q, Tensor k) {
  const ScoreWeights& w = in.weights;
  if (w.location.defined()) {
    k = add(k, project(keys_of(in, w.location_inputs), w.location, "additive", "location"));
  }
  if (!w.vector.defined() || w.vector.shape() != Shape{q.width()} || k.width() != q.width()) {
    throw ShapeError(
        "attention: projected queries are {} wide, keys {}, and the vector is {}; all "
        "three should agree",
        q.width(), k.width(), w.vector.defined() ? w.vector.shape().text() : "undefined");
  }
  return {ScoreCore::kAdditive, q, k, w.vector, 1.0f};
}

// Without weights rows are taken as projected: a decoder projects its keys once for all steps.
PreparedScore additive(const ScoreInputs& in) {
  const auto [query, key] = std::pair(in.weights.query, in.weights.key);
  return additive_of(in,
                     query.defined() ? project(queries_of(in), query, "additive", "query") : in.q,
                     key.defined() ? project(keys_of(in, in.k), key, "additive", "key") : in.k);
}

PreparedScore concat_score(const ScoreInputs& in) {
  const Tensor& w = in.weights.query;
  const size_t q_width = in.q.width(), k_width = in.k.width();
  if (!w.defined() || w.rank() != 2 || w.extent(1) != q_width + k_width) {
    throw ShapeError("attention: score concat needs a query weight [..., {}], but it is {}",
                     q_width + k_width, w.defined() ? w.shape().text() : "undefined");
  }
  return additive_of(in, linear(queries_of(in), w.slice_columns(0, q_width)),
                     linear(keys_of(in, in.k), w.slice_columns(q_width, k_width)));
}

PreparedScore location(const ScoreInputs& in) {
  return {ScoreCore::kPlace,
          project(queries_of(in), in.weights.query, "location", "query"),
          {},
          {},
          1.0f};
}

struct Entry {
  Score score;
  std::string_view name;
  PreparedScore (*prepare)(const ScoreInputs&);
};
constexpr Entry kScores[] = {
    {Score::kDot, "dot", dot},
    {Score::kScaledDot, "scaled_dot", scaled_dot},
    {Score::kGeneral, "general", general},
    {Score::kAdditive, "additive", additive},
    {Score::kConcat, "concat", concat_score},
    {Score::kCosine, "cosine", cosine},
    {Score::kDistance, "distance", distance},
    {Score::kLocation, "location", location},
};

const Entry& entry_of(Score score) {
  for (const Entry& entry : kScores) {
    if (entry.score == score) return entry;
  }
  throw ConfigError("attention: there is no score {}", static_cast<int>(score));
}

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

Score score_from_name(std::string_view name) {
  std::string choices;
  for (const Entry& entry : kScores) {
    if (entry.name == name) return entry.score;
    choices += fmt::format("{}{}", choices.empty() ? "" : ", ", entry.name);
  }
  throw ConfigError("unknown score '{}'; there are: {}", shown_name(name), choices);
}

std::string_view name_of(Score score) {
  const auto* const entry = std::ranges::find(kScores, score, &Entry::score);
  return entry == std::end(kScores) ? "unknown" : entry->name;
}

std::span<const Score> all_scores() {
  static const std::vector<Score> all = [] {
    std::vector<Score> scores;
    for (const Entry& entry : kScores) scores.push_back(entry.score);
    return scores;
  }();
  return all;
}

PreparedScore prepare_score(const ScoreInputs& in) {
  PreparedScore prepared = entry_of(in.score).prepare(in);
  // The cosine's own factor belongs to it; another scale comes on top.
  if (in.scale) {
    prepared.scale = in.score == Score::kCosine ? prepared.scale * *in.scale : *in.scale;
  }
  return prepared;
}

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
