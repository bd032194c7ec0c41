#include "attend/nn/init.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<Init> kInits[] = {
    {Init::kZeros, "zeros"},
    {Init::kOnes, "ones"},
    {Init::kUniform, "uniform"},
    {Init::kNormal, "normal"},
    {Init::kXavierUniform, "xavier_uniform"},
    {Init::kXavierNormal, "xavier_normal"},
    {Init::kKaimingUniform, "kaiming_uniform"},
    {Init::kKaimingNormal, "kaiming_normal"},
    {Init::kFanIn, "fan_in"},
    {Init::kOrthogonal, "orthogonal"},
};

thread_local bool shapes_only = false;

struct Fans {
  float in, out;
};

Fans fans_of(const Shape& shape) {
  if (shape.rank() < 2) {
    const float n = static_cast<float>(std::max<size_t>(shape.size(), 1));
    return {n, n};
  }
  const float out = static_cast<float>(std::max<size_t>(shape[0], 1));
  const float in = static_cast<float>(std::max<size_t>(shape[1], 1));
  const float rest = static_cast<float>(shape.size()) / (in * out);
  return {in * rest, out * rest};
}

// Gram-Schmidt in double over the rows of the shorter side of a normal matrix.
void fill_orthogonal(const Tensor& x, RandomStream random, float scale) {
  const size_t rows = x.extent(0), columns = x.size() / std::max<size_t>(rows, 1);
  const size_t vectors = std::min(rows, columns), length = std::max(rows, columns);
  std::vector<double> basis(vectors * length);
  for (size_t i = 0; i < basis.size(); ++i) basis[i] = random.normal(i);
  for (size_t i = 0; i < vectors; ++i) {
    double* v = basis.data() + i * length;
    for (size_t j = 0; j < i; ++j) {
      const double* u = basis.data() + j * length;
      double dot = 0;
      for (size_t t = 0; t < length; ++t) dot += u[t] * v[t];
      for (size_t t = 0; t < length; ++t) v[t] -= dot * u[t];
    }
    double norm = 0;
    for (size_t t = 0; t < length; ++t) norm += v[t] * v[t];
    norm = std::sqrt(norm);
    for (size_t t = 0; t < length; ++t) v[t] /= norm;
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      const double value = rows <= columns ? basis[r * length + c] : basis[c * length + r];
      x.data()[r * columns + c] = scale * static_cast<float>(value);
    }
  }
}

Tensor fresh(const Shape& shape) {
  return shapes_only ? Tensor::unallocated(shape) : Tensor::empty(shape);
}

}  // namespace

std::string_view name_of(Init init) { return name_from_value(kInits, init); }

ShapesOnly::ShapesOnly() : before_(std::exchange(shapes_only, true)) {}
ShapesOnly::~ShapesOnly() { shapes_only = before_; }

void initialize(const Tensor& x, Init init, RandomStream random, float scale) {
  if (!x.allocated()) return;
  const Fans fans = fans_of(x.shape());
  const auto uniform = [&](float bound) { fill_uniform(x.span(), random, -bound, bound); };
  const auto normal = [&](float deviation) { fill_normal(x.span(), random, 0.0f, deviation); };
  switch (init) {
    case Init::kZeros:
      std::ranges::fill(x.span(), 0.0f);
      break;
    case Init::kOnes:
      std::ranges::fill(x.span(), scale);
      break;
    case Init::kUniform:
      uniform(scale);
      break;
    case Init::kNormal:
      normal(scale);
      break;
    case Init::kXavierUniform:
      uniform(scale * std::sqrt(6.0f / (fans.in + fans.out)));
      break;
    case Init::kXavierNormal:
      normal(scale * std::sqrt(2.0f / (fans.in + fans.out)));
      break;
    case Init::kKaimingUniform:
      uniform(scale * std::sqrt(6.0f / fans.in));
      break;
    case Init::kKaimingNormal:
      normal(scale * std::sqrt(2.0f / fans.in));
      break;
    case Init::kFanIn:
      uniform(scale / std::sqrt(fans.in));
      break;
    case Init::kOrthogonal:
      fill_orthogonal(x, random, scale);
      break;
  }
}

Tensor parameter(const Shape& shape, Init init, Rng& rng, float scale) {
  Tensor x = fresh(shape);
  initialize(x, init, rng.stream(), scale);
  return x.require_grad();
}

Tensor constant_parameter(const Shape& shape, float value) {
  return constant_buffer(shape, value).require_grad();
}

Tensor constant_buffer(const Shape& shape, float value) {
  Tensor x = fresh(shape);
  if (x.allocated()) std::ranges::fill(x.span(), value);
  return x;
}

}  // namespace attend
