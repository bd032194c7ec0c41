// NumPy's NPY format 1.0: \x93NUMPY, the version, the size of the header, a Python dict padded to a
// multiple of 64 bytes, then the values row by row.
#pragma once

#include <string>

#include "attend/tensor/tensor.h"

namespace attend {

// The bytes of a file for numpy.load; float32, any rank.
std::string npy_bytes(const Tensor& values);

}  // namespace attend
