// Fork and join over OpenMP, the pool that oneDNN uses as well.
#include "attend/base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace attend {
namespace {

std::atomic<int> threads{0};

// OpenMP's own synchronisation is invisible to the thread sanitizer: tell it where fork and join
// are.
void happens_before([[maybe_unused]] void* point) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(point);
#endif
}
void happens_after([[maybe_unused]] void* point) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(point);
#endif
}

struct Job {
  size_t chunks;
  detail::ChunkCall call;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  char fork = 0, join = 0;
};

__attribute__((noinline)) void work(Job& job) {
  happens_after(&job.fork);
  for (size_t chunk; (chunk = job.next.fetch_add(1, std::memory_order_relaxed)) < job.chunks;) {
    try {
      job.call.invoke(job.call.callable, chunk);
    } catch (...) {
      std::lock_guard lock(job.mutex);
      if (!job.failure) job.failure = std::current_exception();
    }
  }
  happens_before(&job.join);
}

__attribute__((no_sanitize("thread"))) void fork_and_join(Job* job, [[maybe_unused]] int count) {
#pragma omp parallel num_threads(count) firstprivate(job)
  work(*job);
}

}  // namespace

int thread_count() {
  const int set = threads.load(std::memory_order_relaxed);
  return set > 0 ? set : omp_get_max_threads();
}

void set_thread_count(int count) { threads.store(std::max(count, 1), std::memory_order_relaxed); }

bool runs_alone() { return thread_count() <= 1 || omp_in_parallel(); }

void detail::run_chunks(size_t chunks, ChunkCall call) {
  const int count = static_cast<int>(std::min<size_t>(chunks, static_cast<size_t>(thread_count())));
  if (count <= 1 || omp_in_parallel()) {
    for (size_t chunk = 0; chunk < chunks; ++chunk) call.invoke(call.callable, chunk);
    return;
  }
  Job job{.chunks = chunks, .call = call};
  happens_before(&job.fork);
  fork_and_join(&job, count);
  happens_after(&job.join);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace attend
