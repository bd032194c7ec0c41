#include "attend/inspect/npy.h"

#include <fmt/format.h>

#include <bit>

#include "attend/base/error.h"

namespace attend {

static_assert(std::endian::native == std::endian::little,
              "values are written as they are in memory");

std::string npy_bytes(const Tensor& values) {
  if (!values.defined() || values.dtype() != DType::kFloat32) {
    throw ShapeError("npy_bytes: the tensor is undefined or not of fp32");
  }
  std::string extents;
  for (size_t axis = 0; axis < values.rank(); ++axis) {
    extents += fmt::format("{}{}", axis == 0 ? "" : ", ", values.extent(static_cast<int>(axis)));
  }
  if (values.rank() == 1) extents += ',';  // Python's tuple of one
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", extents);
  constexpr size_t kBefore = 10;  // bytes before the header
  header.append(63 - (kBefore + header.size()) % 64, ' ');
  header += '\n';

  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  for (size_t row = 0; row < values.rows() && values.size() > 0; ++row) {
    const auto* begin = reinterpret_cast<const char*>(values.data() + row * values.stride());
    bytes.append(begin, values.width() * sizeof(float));
  }
  return bytes;
}

}  // namespace attend
