// The limits of this machine: loops that only multiply and add, or only move memory. Their times
// are what every other kernel is compared with.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attend::kernels {

// The SIMD target that kernels run on, such as "AVX2".
const char* simd_target();

// The SIMD targets that kernels were compiled for, best first. The build's ATTEND_SIMD chooses
// them.
std::vector<std::string_view> compiled_simd_targets();

// Runs fused multiply-adds in registers on all threads and returns the number of floating-point
// operations, two for each multiply-add.
double fma_work(size_t rounds);

// Reads x once and returns its sum, so that the compiler cannot drop the loop.
double read_work(const float* x, size_t size);

// x[i] = 0.5 x[i] + y[i]: reads two streams and writes one, like an update of parameters.
void update_work(float* x, const float* y, size_t size);

}  // namespace attend::kernels
