// The packing buffers that matrix products and attention keep for each calling thread, up to 10 MB.
// A thread that seldom computes can release its own.
#pragma once

#include <cstddef>

namespace attend::kernels {

size_t scratch_bytes();  // that this thread holds
void release_scratch();  // of this thread; the next product allocates it again

}  // namespace attend::kernels
