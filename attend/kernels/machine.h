// What this machine can do: loops that do nothing but multiply and add, or nothing but move memory.
// Timed, they give the limits that every other kernel is measured against.
#pragma once

#include <cstddef>

namespace attend::kernels {

// The SIMD target that kernels run on, such as "AVX2".
const char* simd_target();

// Runs fused multiply-adds in registers on all threads and returns how many floating-point
// operations that were, two for each multiply-add.
double fma_work(size_t rounds);

// Reads x once and returns its sum, which has no other use than to be needed.
double read_work(const float* x, size_t size);

// x[i] = 0.5 x[i] + y[i]: two streams read and one written, as in an update of parameters.
void update_work(float* x, const float* y, size_t size);

}  // namespace attend::kernels
