// Aligned buffers on huge pages where these pay, one set a thread.
#include "attend/kernels/gemm_scratch.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>

#include "attend/base/error.h"
#include "attend/base/storage.h"
#include "attend/kernels/scratch.h"

namespace attend::kernels {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLarge = size_t{128} << 10;  // bytes; below, a huge page is mostly waste
constexpr size_t kUses = 5;

// Aligned to 64 bytes, or to a huge page where large.
float* allocate(size_t size) {
  const size_t wanted = size * sizeof(float);
  const size_t alignment = wanted >= kLarge ? kHugePage : 64;
  const size_t bytes = (wanted / alignment + 1) * alignment;
  void* data = std::aligned_alloc(alignment, bytes);
  if (data == nullptr) {
    throw MemoryError("out of memory: asked for {} for a matrix product", memory_text(bytes));
  }
  if (alignment == kHugePage) madvise(data, bytes, MADV_HUGEPAGE);  // a hint: failure is harmless
  return static_cast<float*>(data);
}

struct Free {
  void operator()(float* data) const { std::free(data); }
};

struct Buffer {
  std::unique_ptr<float[], Free> data;
  size_t size = 0;
};

thread_local Buffer buffers[kUses];

}  // namespace

size_t scratch_bytes() {
  size_t bytes = 0;
  for (const Buffer& buffer : buffers) bytes += buffer.size * sizeof(float);
  return bytes;
}

void release_scratch() {
  for (Buffer& buffer : buffers) buffer = {};
}

float* gemm_scratch(Scratch use, size_t size) {
  Buffer& buffer = buffers[static_cast<size_t>(use)];
  if (buffer.size < size) {
    buffer = {};  // first, so that old and new never exist together
    buffer.data.reset(allocate(size));
    buffer.size = size;
  }
  return buffer.data.get();
}

}  // namespace attend::kernels
