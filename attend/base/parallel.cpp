// Fork and join over threads that are kept. The caller works as well, and waits only for those who
// are at work on its chunks: on a busy machine a thread that does not get to run costs nothing.
#include "attend/base/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

namespace attend {
namespace {

std::atomic<int> threads{0};
thread_local bool in_parallel = false;

// What OpenMP programs go by, so that one habit serves: OMP_NUM_THREADS, or the cores that this
// process may use.
int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int number = std::atoi(text);
    if (number > 0) return number;
  }
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(CPU_COUNT(&cores), 1);
  return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `value` is no longer `old`: for a tenth of a millisecond or so awake, then asleep.
// The next region of a training step mostly comes within the former.
template <typename T>
void await_change(const std::atomic<T>& value, T old) {
  constexpr int kSpins = 8000;
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

constexpr size_t kCacheLine = 64;
constexpr size_t kMostShares = 16;

// Each thread has a share of the chunks, the same from job to job, so that it mostly finds in its
// cache what it left there; when done it helps with the others'.
struct Job {
  struct Share {
    alignas(kCacheLine) std::atomic<size_t> next{0};
    size_t end = 0;
  };

  Job(size_t chunks, size_t workers, detail::ChunkCall what)
      : call(what), shares(std::min(workers, kMostShares)) {
    for (size_t s = 0; s < shares; ++s) {
      share[s].next.store(chunks * s / shares, std::memory_order_relaxed);
      share[s].end = chunks * (s + 1) / shares;
    }
  }

  void work(size_t thread) {
    for (size_t s = 0; s < shares; ++s) work_on(share[(thread + s) % shares]);
  }

  void work_on(Share& mine) {
    for (size_t chunk; (chunk = mine.next.fetch_add(1, std::memory_order_relaxed)) < mine.end;) {
      try {
        call.invoke(call.callable, chunk);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  }

  detail::ChunkCall call;
  size_t shares;
  Share share[kMostShares];
  std::mutex mutex;
  std::exception_ptr failure;
};

class ThreadPool {
 public:
  // Never destroyed: its threads sleep until the process ends.
  static ThreadPool& instance() {
    static ThreadPool* pool = [] {
      ThreadPool* made = new ThreadPool;
      pthread_atfork(nullptr, nullptr, [] { instance().forget_threads(); });
      return made;
    }();
    return *pool;
  }

  // Runs the job on up to `count` threads, the caller among them. False: another caller has the
  // pool.
  bool run(Job& job, int count) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    for (; made_ < count - 1; ++made_) {
      std::thread([this, number = made_ + 1] { serve(number); }).detach();
    }
    job_ = &job;
    wanted_.store(count);
    open_.store(true);
    round_.fetch_add(1);
    round_.notify_all();
    in_parallel = true;
    job.work(0);
    in_parallel = false;
    // Who comes from now on finds it closed; who came before is waited for.
    open_.store(false);
    for (int inside; (inside = inside_.load()) > 0;) await_change(inside_, inside);
    return true;
  }

 private:
  // A forked process has none of them.
  void forget_threads() {
    made_ = 0;
    inside_ = 0;
  }

  // The caller is thread 0.
  void serve(int number) {
    in_parallel = true;
    for (int seen = round_.load();; seen = round_.load()) {
      inside_.fetch_add(1);
      if (open_.load() && number < wanted_.load()) job_->work(static_cast<size_t>(number));
      if (inside_.fetch_sub(1) == 1) inside_.notify_all();
      await_change(round_, seen);
    }
  }

  std::mutex mutex_;  // held by the caller whose job it is
  int made_ = 0;
  Job* job_ = nullptr;
  alignas(kCacheLine) std::atomic<int> round_{0};  // counts jobs
  alignas(kCacheLine) std::atomic<bool> open_{false};
  std::atomic<int> wanted_{0};                      // threads, the caller among them
  alignas(kCacheLine) std::atomic<int> inside_{0};  // threads that may be at work on the job
};

}  // namespace

int thread_count() {
  const int set = threads.load(std::memory_order_relaxed);
  if (set > 0) return set;
  static const int usual = default_threads();
  return usual;
}

void set_thread_count(int count) { threads.store(std::max(count, 1), std::memory_order_relaxed); }

bool runs_alone() { return thread_count() <= 1 || in_parallel; }

void detail::run_chunks(size_t chunks, ChunkCall call) {
  const int count = static_cast<int>(std::min<size_t>(chunks, static_cast<size_t>(thread_count())));
  const auto alone = [&] {
    for (size_t chunk = 0; chunk < chunks; ++chunk) call.invoke(call.callable, chunk);
  };
  if (count <= 1 || in_parallel) return alone();
  Job job(chunks, static_cast<size_t>(count), call);
  if (!ThreadPool::instance().run(job, count)) return alone();
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace attend
