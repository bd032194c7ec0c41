// Tensors as text, for a person to read.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "attend/base/names.h"
#include "attend/tensor/tensor.h"

namespace attend {
namespace {

constexpr size_t kElided = 1000;  // elements past which the middle of an axis is left out
constexpr size_t kEdge = 3;       // then shown at either end of it
constexpr size_t kLineWidth = 80;

constexpr Named<DType> kTypes[] = {{DType::kFloat32, "float32"}, {DType::kInt32, "int32"}};

// How all floats of a tensor are written, so that columns line up.
struct FloatStyle {
  bool exponents = false;
  int decimals = 0;
};

std::string number(float x, FloatStyle style) {
  if (!std::isfinite(x)) return fmt::format("{}", x);
  return style.exponents ? fmt::format("{:.{}e}", x, style.decimals)
                         : fmt::format("{:.{}f}", x, style.decimals);
}

FloatStyle style_of(std::span<const float> shown, int decimals) {
  float largest = 0;
  bool whole = true;
  for (const float x : shown) {
    if (!std::isfinite(x)) continue;
    largest = std::max(largest, std::abs(x));
    whole = whole && x == std::trunc(x);
  }
  if (whole && largest < 1e7f) return {};
  return {largest != 0 && (largest >= 1e5f || largest < 1e-3f), decimals};
}

class TensorText {
 public:
  TensorText(const Tensor& x, int decimals) : shape_(x.shape()), elide_(x.size() > kElided) {
    std::vector<float> floats;
    each_shown(x, [&](size_t place) {
      if (x.dtype() == DType::kInt32) {
        numbers_.push_back(fmt::format("{}", x.indices()[place]));
      } else {
        floats.push_back(x.data()[place]);
      }
    });
    const FloatStyle style = style_of(floats, decimals);
    for (const float value : floats) numbers_.push_back(number(value, style));
    for (const std::string& text : numbers_) width_ = std::max(width_, text.size());
  }

  std::string operator()() && {
    append(0);
    return std::move(out_);
  }

 private:
  // Places along an axis; those left out are not among them.
  std::vector<size_t> shown(size_t axis) const {
    const size_t extent = shape_[static_cast<int>(axis)];
    std::vector<size_t> places;
    for (size_t i = 0; i < extent; ++i) {
      if (elided(axis) && i == kEdge) i = extent - kEdge;
      places.push_back(i);
    }
    return places;
  }
  bool elided(size_t axis) const { return elide_ && shape_[static_cast<int>(axis)] > 2 * kEdge; }

  // Calls f with the place in memory of each element that is shown, in order.
  template <typename F>
  void each_shown(const Tensor& x, const F& f, size_t axis = 0, size_t row = 0) const {
    if (shape_.rank() == 0) return f(0);
    for (const size_t i : shown(axis)) {
      if (axis + 1 == shape_.rank()) {
        f(row * x.stride() + i);
      } else {
        each_shown(x, f, axis + 1, row * shape_[static_cast<int>(axis)] + i);
      }
    }
  }

  void append(size_t axis) {
    if (shape_.rank() == 0) {
      out_ += numbers_.front();
      return;
    }
    const size_t indent = axis + 1;
    out_ += '[';
    if (axis + 1 == shape_.rank()) {
      append_row(indent);
    } else {
      // One line feed between rows, two between matrices, and so on.
      const std::string between =
          std::string(shape_.rank() - indent, '\n') + std::string(indent, ' ');
      const size_t count = shown(axis).size();
      for (size_t i = 0; i < count; ++i) {
        if (i > 0) out_ += between;
        if (elided(axis) && i == kEdge) out_ += "..." + between;
        append(axis + 1);
      }
    }
    out_ += ']';
  }

  void append_row(size_t indent) {
    const size_t axis = shape_.rank() - 1, count = shown(axis).size();
    size_t column = indent;
    const auto word = [&](const std::string& text, bool first) {
      const size_t space = first ? 0 : 1;
      if (!first && column + space + text.size() > kLineWidth) {
        out_ += '\n' + std::string(indent, ' ');
        column = indent;
      } else {
        out_ += std::string(space, ' ');
        column += space;
      }
      out_ += text;
      column += text.size();
    };
    for (size_t i = 0; i < count; ++i) {
      if (elided(axis) && i == kEdge) word("...", false);
      const std::string& text = numbers_[next_++];
      word(std::string(width_ - text.size(), ' ') + text, i == 0);
    }
  }

  const Shape shape_;
  const bool elide_;
  std::vector<std::string> numbers_;  // those that are shown, in order
  size_t width_ = 0;                  // of the longest
  size_t next_ = 0;                   // number to append
  std::string out_;
};

}  // namespace

std::string_view name_of(DType type) { return name_from_value(kTypes, type); }

std::string Tensor::text(int decimals) const {
  if (!defined()) return "undefined tensor";
  const std::string head = fmt::format("{} {}", name_of(dtype_), shape_);
  if (size() == 0) return head + " []";
  if (!allocated()) return head + " without memory";
  return head + (rank() < 2 ? " " : "\n") + TensorText(*this, decimals)();
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << x.text(); }

}  // namespace attend
