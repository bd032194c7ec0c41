// The library's thread pool. Work is cut into chunks whose borders depend only on its size, never
// on the number of threads, so that results are bitwise the same for any number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

namespace attend {

// Threads that parallel_for may use: OMP_NUM_THREADS or all cores, unless set_thread_count() was
// called.
int thread_count();
void set_thread_count(int count);

// Whether a loop here would run in the calling thread alone: there is only one thread, or this is
// inside a parallel region.
bool runs_alone();

// Sets the thread count for a scope.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int count) : before_(thread_count()) { set_thread_count(count); }
  ~ThreadCountScope() { set_thread_count(before_); }
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  int before_;
};

// Chunks of `grain` elements that cover `size` elements.
inline constexpr size_t chunk_count(size_t size, size_t grain) {
  return grain == 0 ? 0 : (size + grain - 1) / grain;
}

namespace detail {
// A call without ownership or allocation: the callable outlives the parallel region.
struct ChunkCall {
  void* callable;
  void (*invoke)(void* callable, size_t chunk);
};
void run_chunks(size_t chunks, ChunkCall call);
}  // namespace detail

// Calls body(chunk) for each chunk in [0, chunks), in any order, on any thread. An exception thrown
// by the body reaches the caller after all chunks have ended. Inside another parallel region it
// runs in the calling thread.
template <typename Body>
void parallel_chunks(size_t chunks, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  detail::run_chunks(
      chunks, {const_cast<void*>(static_cast<const void*>(std::addressof(body))),
               [](void* callable, size_t chunk) { (*static_cast<Callable*>(callable))(chunk); }});
}

// Calls body(begin, end) for [0, size) cut into chunks of `grain`, the last one shorter.
template <typename Body>
void parallel_for(size_t size, size_t grain, Body&& body) {
  parallel_chunks(chunk_count(size, grain), [&](size_t chunk) {
    const size_t begin = chunk * grain;
    body(begin, begin + grain < size ? begin + grain : size);
  });
}

}  // namespace attend
