// What matrix products and attention keep of the thread that calls them, up to 10 MB: memory that
// they pack into. Threads that compute now and then give it back.
#pragma once

#include <cstddef>

namespace attend::kernels {

size_t scratch_bytes();  // that this thread holds
void release_scratch();  // of this thread; the next product takes it again

}  // namespace attend::kernels
