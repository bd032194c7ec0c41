// Memory that matrix products and attention pack into: thread-local, grown and not returned but by
// release_scratch(), so that a steady step allocates nothing. Not for use outside kernels/.
#pragma once

#include <cstddef>

namespace attend::kernels {

// Each use has its own buffer, for one product holds several at a time.
enum class Scratch { kLeft, kRight, kShared, kSums, kAttention };

// At least `size` floats of this thread, 64-byte aligned, valid until it next asks for the same
// use.
float* gemm_scratch(Scratch use, size_t size);

}  // namespace attend::kernels
