// The NPY file format 1.0 of NumPy: \x93NUMPY, version, size of the header, a Python dict padded to
// a multiple of 64 bytes, then the values row by row.
#pragma once

#include <string>

#include "attend/tensor/tensor.h"

namespace attend {

// The bytes of a file that numpy.load reads; fp32, any rank.
std::string npy_bytes(const Tensor& values);

}  // namespace attend
