// Steps of sums over all sequences of states, in double: what the forward and backward recursions
// of a conditional random field do at each place. Single calls are small, and run on one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attend::kernels {

// y[i] = e^(x[i] - offset), within 4 ULP; x may be -infinity, of which the power is 0, but the
// offset may not.
void powers_of(const double* x, double offset, size_t size, double* y);
// y[i] = offset + log(x[i]), within 4 ULP before the sum, for x that are normal and above 0; what
// others become means nothing. y may be x.
void logarithms_of(const double* x, double offset, size_t size, double* y);

// Columns of the matrices below: padded to a multiple of this, so that none is left over.
inline constexpr size_t kChainLanes = 8;
constexpr size_t padded_for_chain(size_t columns) {
  return (columns + kChainLanes - 1) / kChainLanes * kChainLanes;
}

// Of a matrix a (m, n) whose rows follow one another, and vectors x (m) and y (n):
// y[j] = sum over i of x[i] a[i, j], added up in the order of i.
void vector_times_matrix(const double* x, const double* a, size_t m, size_t n, double* y);
// a[i, j] += x[i] y[j].
void add_outer_product(const double* x, const double* y, size_t m, size_t n, double* a);
// y[j] = the largest x[i] + a[i, j], and from[j] = the first i that has it.
void largest_sums(const double* x, const double* a, size_t m, size_t n, double* y, int32_t* from);

}  // namespace attend::kernels
