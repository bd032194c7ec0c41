// Memory for tensors, kept and reused: once a training or decoding step has run, the next one like
// it asks the system for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace attend {

// A block of memory, 64-byte aligned, from the pool; goes back to it when the last owner lets go.
class Storage {
 public:
  enum class Memory { kNow, kLater };

  // kLater: only the size is known until allocate(). Throws MemoryError.
  explicit Storage(size_t bytes, Memory memory = Memory::kNow);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }  // null before allocate()
  size_t bytes() const { return bytes_; }
  // Takes the memory unless it is there, for all that share this storage; one thread at a time.
  void allocate();

 private:
  void* data_ = nullptr;
  size_t bytes_, capacity_ = 0;
};

struct PoolStatistics {
  size_t system_allocations = 0;  // how often the pool asked the system for memory
  size_t bytes_from_system = 0;   // held now, in use or not
  size_t bytes_in_use = 0;
  size_t peak_bytes_in_use = 0;
};

PoolStatistics pool_statistics();
void reset_peak_bytes();       // the peak starts again from what is in use now
void release_unused_memory();  // gives free blocks back to the system
// From now on the pool gives its free blocks back before it takes more than this from the system.
// What is in use at once is not limited.
void limit_memory(size_t bytes);

size_t machine_memory();  // bytes of this machine, its swap counted

std::string memory_text(size_t bytes);  // "1.5 GB"

}  // namespace attend
