// A pool of blocks in size classes, eight to each doubling. A request takes a free block of its
// class or of one of the next classes up to twice its size (a quarter more, where memory is
// limited), and asks the system only when there is none; smaller blocks that lie idle then make
// room for it, so that what was outgrown is not kept. Where the system refuses, all idle blocks do.
#include "attend/base/storage.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <new>

#include "attend/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace attend {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = size_t{64} << 10;  // the largest that systems have
constexpr size_t kHugePage = size_t{2} << 20;
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kMapped = std::numeric_limits<size_t>::max();  // the sanitizer watches the heap
#else
constexpr size_t kMapped = size_t{512} << 10;  // bytes of a block from which on it is mapped
#endif

constexpr size_t kSpared = size_t{64} << 10;  // bytes; smaller blocks lie idle at no cost
constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();
constexpr size_t kLargest = kUnlimited / 4;  // no system has more, and sums below do not overflow

// The size of the class that `bytes` falls into; at most an eighth larger.
size_t class_size(size_t bytes) {
  bytes = std::max(bytes, kAlignment);
  const size_t step = std::max(std::bit_floor(bytes) / 8, kAlignment);
  return (bytes + step - 1) / step * step;
}

// `capacity` bytes at a multiple of `alignment`, of the pages that only this block has; null if the
// system has none left.
void* map_pages(size_t capacity, size_t alignment) {
  void* const mapped = ::mmap(nullptr, capacity + alignment, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapped);
  const size_t before = (alignment - reinterpret_cast<uintptr_t>(first) % alignment) % alignment;
  if (before > 0) ::munmap(first, before);
  ::munmap(first + before + capacity, alignment - before);
  return first + before;
}

// Large blocks are mapped one by one: what is given back leaves no hole in the heap. Null if the
// system has none left.
void* system_allocate(size_t capacity) {
  if (capacity < kMapped) return std::aligned_alloc(kAlignment, capacity);
  const bool huge = capacity >= kHugePage;
  void* const data = map_pages(capacity, huge ? kHugePage : kPage);
  // First touch of a fresh block costs a third with huge pages; a refusal costs nothing.
  if (huge && data != nullptr) ::madvise(data, capacity, MADV_HUGEPAGE);
  return data;
}

void system_free(void* data, size_t capacity) {
  if (capacity < kMapped) {
    std::free(data);
  } else {
    ::munmap(data, capacity);
  }
}

// Blocks of one capacity that nobody uses. Each holds the address of the next, so that giving one
// back takes no memory and cannot fail.
class IdleBlocks {
 public:
  bool empty() const { return first_ == nullptr; }

  void push(void* data, size_t capacity) noexcept {
    first_ = ::new (data) Block{first_};
    // The address stays readable: the sanitizer takes what only poisoned memory leads to for lost.
    ASAN_POISON_MEMORY_REGION(static_cast<char*>(data) + sizeof(Block), capacity - sizeof(Block));
  }

  void* pop(size_t capacity) noexcept {
    ASAN_UNPOISON_MEMORY_REGION(first_, capacity);
    Block* const block = first_;
    first_ = block->next;
    return block;
  }

 private:
  struct Block {
    Block* next;
  };
  Block* first_ = nullptr;
};

class MemoryPool {
 public:
  // Never destroyed: tensors with static lifetime may outlive any order of destruction.
  static MemoryPool& instance() {
    static MemoryPool* pool = new MemoryPool;
    return *pool;
  }

  // Null if the system has none left.
  void* take(size_t* capacity) {
    if (*capacity > kLargest) return nullptr;
    *capacity = class_size(*capacity);
    {
      std::lock_guard lock(mutex_);
      if (void* const data = take_idle(capacity)) {
        count_use(*capacity);
        return data;
      }
      idle_.try_emplace(*capacity);  // now, since giving back must not fail
      if (statistics_.bytes_from_system + *capacity > limit_) give_to_system();
      make_room(*capacity, kSpared);
      ++statistics_.system_allocations;
      statistics_.bytes_from_system += *capacity;
    }
    void* data = system_allocate(*capacity);
    if (data == nullptr) {
      release_unused();
      data = system_allocate(*capacity);
    }
    std::lock_guard lock(mutex_);
    if (data == nullptr) {
      statistics_.bytes_from_system -= *capacity;
      return nullptr;
    }
    count_use(*capacity);
    return data;
  }

  void give_back(void* data, size_t capacity) noexcept {
    std::lock_guard lock(mutex_);
    idle_.find(capacity)->second.push(data, capacity);
    statistics_.bytes_in_use -= capacity;
  }

  void release_unused() {
    std::lock_guard lock(mutex_);
    give_to_system();
  }

  void limit(size_t bytes) {
    std::lock_guard lock(mutex_);
    limit_ = bytes;
  }

  PoolStatistics statistics() {
    std::lock_guard lock(mutex_);
    return statistics_;
  }

  void reset_peak() {
    std::lock_guard lock(mutex_);
    statistics_.peak_bytes_in_use = statistics_.bytes_in_use;
  }

 private:
  // A free block that is not much larger, and its size; or null.
  void* take_idle(size_t* capacity) {
    const size_t most = limit_ == kUnlimited ? 2 * *capacity : *capacity + *capacity / 4;
    auto found = idle_.lower_bound(*capacity);
    while (found != idle_.end() && found->first <= most && found->second.empty()) ++found;
    if (found == idle_.end() || found->first > most) return nullptr;
    *capacity = found->first;
    return found->second.pop(*capacity);
  }

  void count_use(size_t capacity) {
    statistics_.bytes_in_use += capacity;
    statistics_.peak_bytes_in_use =
        std::max(statistics_.peak_bytes_in_use, statistics_.bytes_in_use);
  }

  void give_to_system() { make_room(kUnlimited, 0); }

  // Gives free blocks of `least` bytes or more to the system, the largest first, as many as fit
  // into `bytes`: it never costs more than the new block does. Of requests that come again and
  // again the largest find theirs first, then the next smaller ones, and at last none asks the
  // system.
  void make_room(size_t bytes, size_t least) {
    for (auto found = idle_.upper_bound(bytes); found != idle_.begin();) {
      --found;
      auto& [capacity, blocks] = *found;
      if (capacity < least) return;
      while (!blocks.empty() && capacity <= bytes) {
        system_free(blocks.pop(capacity), capacity);
        statistics_.bytes_from_system -= capacity;
        bytes -= capacity;
      }
    }
  }

  std::mutex mutex_;
  std::map<size_t, IdleBlocks> idle_;  // by capacity
  PoolStatistics statistics_;
  size_t limit_ = kUnlimited;
};

}  // namespace

Storage::Storage(size_t bytes, Memory memory) : bytes_(bytes) {
  if (memory == Memory::kNow) allocate();
}

Storage::~Storage() {
  if (data_ != nullptr) MemoryPool::instance().give_back(data_, capacity_);
}

void Storage::allocate() {
  if (data_ != nullptr) return;
  capacity_ = bytes_;
  data_ = MemoryPool::instance().take(&capacity_);
  if (data_ != nullptr) return;
  throw MemoryError("out of memory: asked for {}, with {} in use", memory_text(bytes_),
                    memory_text(pool_statistics().bytes_in_use));
}

PoolStatistics pool_statistics() { return MemoryPool::instance().statistics(); }

void reset_peak_bytes() { MemoryPool::instance().reset_peak(); }

void release_unused_memory() { MemoryPool::instance().release_unused(); }

void limit_memory(size_t bytes) { MemoryPool::instance().limit(bytes); }

size_t machine_memory() {
  struct sysinfo machine {};
  if (::sysinfo(&machine) != 0) return kUnlimited;
  return (machine.totalram + machine.totalswap) * machine.mem_unit;
}

std::string memory_text(size_t bytes) {
  const double kb = static_cast<double>(bytes) / 1024, mb = kb / 1024;
  if (mb < 1) return fmt::format("{:.0f} KB", std::ceil(kb));
  return mb < 1024 ? fmt::format("{:.0f} MB", mb) : fmt::format("{:.1f} GB", mb / 1024);
}

}  // namespace attend
