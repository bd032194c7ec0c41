// Principal components of vectors (Pearson, 1901; Hotelling, 1933).
#pragma once

#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// What rows look like along the directions in which they vary most.
struct PrincipalComponents {
  Tensor points;               // [rows, components]: the rows, less their mean, along each
  Tensor directions;           // [components, width], of length 1; zeros where nothing varies
  std::vector<double> shares;  // of the whole variance, largest first
};

// The first `count` components of rows, [rows, width]; fewer where there are not as many. The
// largest entry of each direction is positive. Computed in double precision, the same bits for any
// number of threads. Throws DataError for fewer than two rows, or for a value that is not finite.
PrincipalComponents principal_components(const Tensor& rows, size_t count);

}  // namespace attend
