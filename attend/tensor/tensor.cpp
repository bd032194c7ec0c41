#include "attend/tensor/tensor.h"

#include <algorithm>
#include <cassert>

#include "attend/base/error.h"

namespace attend {
namespace {

// A tensor that was asked for values it does not hold. Checked in every build: ids read as floats
// are wrong without a word.
[[noreturn]] void throw_unreadable(const Tensor& x) {
  if (!x.defined()) throw ShapeError("tensor: undefined, so there is nothing to read");
  throw ShapeError("tensor: {} holds {}", x.shape(),
                   x.dtype() == DType::kInt32 ? "int32 ids, not values" : "values, not int32 ids");
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType type) {
  static_assert(sizeof(float) == sizeof(int32_t));
  Tensor x = unallocated(shape);
  x.dtype_ = type;
  x.allocate();
  return x;
}

Tensor Tensor::unallocated(const Shape& shape) {
  Tensor x;
  x.storage_ = std::make_shared<Storage>(shape.size() * sizeof(float), Storage::Memory::kLater);
  x.stride_ = shape.width();
  x.shape_ = shape;
  return x;
}

void Tensor::allocate() const {
  try {
    storage_->allocate();
  } catch (const MemoryError& error) {
    throw MemoryError("{}, for a tensor of shape {}", error.what(), shape_);
  }
}

Tensor Tensor::full(const Shape& shape, float value) {
  Tensor x = empty(shape);
  std::ranges::fill(x.span(), value);
  return x;
}

Tensor Tensor::of(std::span<const float> values, const Shape& shape) {
  if (values.size() != shape.size()) {
    throw ShapeError("tensor: {} values do not fill shape {}", values.size(), shape);
  }
  Tensor x = empty(shape);
  std::ranges::copy(values, x.span().begin());
  return x;
}

Tensor Tensor::of(std::initializer_list<float> values, const Shape& shape) {
  return of(std::span(values.begin(), values.size()), shape);
}

Tensor Tensor::ids(std::span<const int32_t> values, const Shape& shape) {
  if (values.size() != shape.size()) {
    throw ShapeError("tensor: {} ids do not fill shape {}", values.size(), shape);
  }
  Tensor x = empty(shape, DType::kInt32);
  std::ranges::copy(values, x.index_span().begin());
  return x;
}

Tensor Tensor::ids(std::initializer_list<int32_t> values) {
  return ids(std::span(values.begin(), values.size()), {values.size()});
}

float* Tensor::data() const {
  if (!defined() || dtype_ != DType::kFloat32) throw_unreadable(*this);
  assert(allocated());
  return static_cast<float*>(storage_->data()) + offset_;
}

int32_t* Tensor::indices() const {
  if (!defined() || dtype_ != DType::kInt32) throw_unreadable(*this);
  assert(allocated());
  return static_cast<int32_t*>(storage_->data()) + offset_;
}

std::span<float> Tensor::span() const {
  assert(contiguous());
  return {data(), size()};
}

std::span<int32_t> Tensor::index_span() const {
  assert(contiguous());
  return {indices(), size()};
}

float Tensor::item() const {
  if (size() != 1) throw ShapeError("item: the tensor has shape {}, not one element", shape_);
  return *data();
}

std::vector<float> Tensor::to_vector() const {
  std::vector<float> values;
  values.reserve(size());
  for (size_t row = 0; row < rows(); ++row) {
    const float* begin = data() + row * stride_;
    values.insert(values.end(), begin, begin + width());
  }
  return values;
}

Tensor Tensor::reshape(const Shape& shape) const {
  if (shape.size() != size()) {
    throw ShapeError("reshape: {} has {} elements but {} has {}", shape_, size(), shape,
                     shape.size());
  }
  Tensor view = *this;
  view.shape_ = shape;
  if (contiguous()) {
    view.stride_ = shape.width();
  } else if (shape.width() != width()) {
    throw ShapeError("reshape: {} is a block of columns, whose width {} cannot become {}", shape_,
                     width(), shape.width());
  }
  return view;
}

Tensor Tensor::slice_rows(size_t begin, size_t count) const {
  if (rank() == 0 || begin > extent(0) || count > extent(0) - begin) {
    throw ShapeError("slice: rows {} to {} are not within shape {}", begin, begin + count, shape_);
  }
  Tensor view = *this;
  view.shape_.set(0, count);
  if (rank() == 1) {
    view.offset_ += begin;
    view.stride_ = count;
  } else if (extent(0) > 0) {
    view.offset_ += begin * (rows() / extent(0)) * stride_;
  }
  return view;
}

Tensor Tensor::slice_columns(size_t begin, size_t count) const {
  if (rank() == 0 || begin > width() || count > width() - begin) {
    throw ShapeError("slice: columns {} to {} are not within shape {}", begin, begin + count,
                     shape_);
  }
  Tensor view = *this;
  view.shape_.set(-1, count);
  view.offset_ += begin;
  return view;
}

Tensor Tensor::detach() const {
  Tensor x = *this;
  x.node_ = nullptr;
  return x;
}

}  // namespace attend
