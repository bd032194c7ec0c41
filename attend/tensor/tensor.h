// The tensor: a shape, and shared memory behind it. Copies are handles to the same values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/base/storage.h"
#include "attend/tensor/shape.h"

namespace attend {

enum class DType { kFloat32, kInt32 };

struct Node;  // where a tensor stands on the tape (tape.h)

// Rows of the last extent, contiguous within a row; rows may be a stride apart, so that a block of
// columns is a view. A view (reshape, slice_*) shares memory with its tensor, and its gradient is
// the same view of that tensor's gradient: views cost nothing, forwards or backwards.
class Tensor {
 public:
  Tensor() = default;  // undefined: holds nothing

  // Values are not set. Throws MemoryError.
  static Tensor empty(const Shape& shape, DType type = DType::kFloat32);
  // fp32 without memory: only its shape may be used before allocate().
  static Tensor unallocated(const Shape& shape);
  static Tensor like(const Tensor& x) { return empty(x.shape(), x.dtype()); }
  static Tensor zeros(const Shape& shape) { return full(shape, 0.0f); }
  static Tensor full(const Shape& shape, float value);
  static Tensor of(std::span<const float> values, const Shape& shape);  // copies
  static Tensor of(std::initializer_list<float> values, const Shape& shape);
  static Tensor ids(std::span<const int32_t> values, const Shape& shape);  // int32, copies
  static Tensor ids(std::initializer_list<int32_t> values);                // int32, rank 1

  bool defined() const { return storage_ != nullptr; }
  bool allocated() const { return defined() && storage_->data() != nullptr; }
  void allocate() const;  // and so all handles and views have memory; throws MemoryError
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  size_t rank() const { return shape_.rank(); }
  size_t size() const { return shape_.size(); }
  size_t extent(int axis) const { return shape_[axis]; }
  size_t width() const { return shape_.width(); }
  size_t rows() const { return shape_.rows(); }
  size_t stride() const { return stride_; }  // elements from one row to the next
  bool contiguous() const { return stride_ == width() || rows() <= 1; }

  float* data() const;                    // fp32 only
  int32_t* indices() const;               // int32 only
  std::span<float> span() const;          // fp32, contiguous
  std::span<int32_t> index_span() const;  // int32, contiguous
  float item() const;                     // the value of a tensor of one element
  std::vector<float> to_vector() const;   // a copy, row by row

  // Views. Out of range throws ShapeError.
  Tensor reshape(const Shape& shape) const;                // contiguous tensors
  Tensor slice_rows(size_t begin, size_t count) const;     // along the first extent
  Tensor slice_columns(size_t begin, size_t count) const;  // along the last extent
  Tensor detach() const;                                   // the same values, off the tape

  // Gradients. A leaf that requires one keeps it, and backward() adds to it, until clear_grad().
  Tensor& require_grad();
  bool needs_grad() const { return node_ != nullptr; }
  Tensor grad() const;  // undefined when there is none
  void clear_grad() const;

  const std::shared_ptr<Storage>& storage() const { return storage_; }

 private:
  friend class Tape;
  friend class Grads;

  std::shared_ptr<Storage> storage_;
  std::shared_ptr<Node> node_;
  size_t offset_ = 0;  // elements from the start of the storage
  size_t stride_ = 0;
  Shape shape_;
  DType dtype_ = DType::kFloat32;
};

}  // namespace attend
