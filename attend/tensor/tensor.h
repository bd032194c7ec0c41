// The tensor: a shape and shared memory. Copies are handles to the same values.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/base/storage.h"
#include "attend/tensor/shape.h"

namespace attend {

// The type of the elements.
enum class DType { kFloat32, kInt32 };
std::string_view name_of(DType type);  // "float32", "int32"

struct Node;  // a tensor's place on the tape (tape.h)

// Elements are stored row by row, where a row is the last extent. A row is contiguous; rows may be
// a stride apart, so that a block of columns is a view. A view (reshape, slice_*) shares memory
// with its tensor, and its gradient is the same view of that tensor's gradient: views cost nothing,
// forwards or backwards. Threads may read a tensor at once; writing needs the caller's own
// synchronisation.
class Tensor {
 public:
  Tensor() = default;  // undefined: holds nothing

  // Uninitialised values. Throws MemoryError.
  static Tensor empty(const Shape& shape, DType type = DType::kFloat32);
  // float32 without memory: only the shape may be used before allocate().
  static Tensor unallocated(const Shape& shape);
  // Uninitialised, with the shape and type of x; zeros; one value everywhere.
  static Tensor like(const Tensor& x) { return empty(x.shape(), x.dtype()); }
  static Tensor zeros(const Shape& shape) { return full(shape, 0.0f); }
  static Tensor full(const Shape& shape, float value);
  static Tensor of(std::span<const float> values, const Shape& shape);  // copies
  static Tensor of(std::initializer_list<float> values, const Shape& shape);
  static Tensor ids(std::span<const int32_t> values, const Shape& shape);  // int32, copies
  static Tensor ids(std::initializer_list<int32_t> values);                // int32, rank 1

  // Whether it is a tensor at all, and whether it has memory.
  bool defined() const { return storage_ != nullptr; }
  bool allocated() const { return defined() && storage_->data() != nullptr; }
  void allocate() const;  // for all handles and views; throws MemoryError
  // The type and the shape; `extent` takes a negative axis from the end; `rows` are all extents but
  // the last, multiplied, and `width` is the last.
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  size_t rank() const { return shape_.rank(); }
  size_t size() const { return shape_.size(); }
  size_t extent(int axis) const { return shape_[axis]; }
  size_t width() const { return shape_.width(); }
  size_t rows() const { return shape_.rows(); }
  size_t stride() const { return stride_; }  // elements from one row to the next
  bool contiguous() const { return stride_ == width() || rows() <= 1; }  // no gaps between rows

  float* data() const;                    // float32 only: the first element
  int32_t* indices() const;               // int32 only: the first element
  std::span<float> span() const;          // float32, contiguous: all elements
  std::span<int32_t> index_span() const;  // int32, contiguous: all elements
  float item() const;                     // the value of a float32 tensor of one element
  std::vector<float> to_vector() const;   // float32: a copy, row by row

  // Views, which share memory. Out of range throws ShapeError.
  Tensor reshape(const Shape& shape) const;                // contiguous tensors
  Tensor slice_rows(size_t begin, size_t count) const;     // along the first extent
  Tensor slice_columns(size_t begin, size_t count) const;  // along the last extent
  Tensor detach() const;                                   // the same values, off the tape

  // Gradients. A leaf that requires one keeps it: backward() adds to it until clear_grad().
  Tensor& require_grad();
  bool needs_grad() const { return node_ != nullptr; }
  Tensor grad() const;  // undefined when there is none
  void clear_grad() const;

  // The memory, which views and handles share; null if undefined.
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // The type, the shape and the values, for a person to read, as in
  //   float32 [2, 2]
  //   [[ 0.5000 -1.0000]
  //    [ 2.0000  0.2500]]
  // Whole numbers have no decimals; very large or very small ones have exponents. Of a tensor of
  // more than a thousand elements, an axis of more than six shows its first and last three. fmt and
  // operator<< print this text; "{:.2}" sets the decimals.
  std::string text(int decimals = 4) const;

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

std::ostream& operator<<(std::ostream& out, const Tensor& x);  // writes x.text()

}  // namespace attend

// Prints Tensor::text(); a precision, as in "{:.2}", sets its decimals.
template <>
struct fmt::formatter<attend::Tensor> {
  int decimals = 4;

  constexpr auto parse(fmt::format_parse_context& context) {
    auto at = context.begin();
    if (at == context.end() || *at != '.') return at;
    decimals = 0;
    for (++at; at != context.end() && *at >= '0' && *at <= '9' && decimals < 10; ++at) {
      decimals = 10 * decimals + (*at - '0');
    }
    return at;
  }
  auto format(const attend::Tensor& x, fmt::format_context& context) const {
    return fmt::format_to(context.out(), "{}", x.text(decimals));
  }
};
