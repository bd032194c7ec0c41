// Pooled memory for tensors: after one training or decoding step, the next one like it allocates
// nothing from the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace attend {

// A block of memory from the pool, aligned to 64 bytes. The destructor returns it to the pool.
class Storage {
 public:
  // When the memory is taken.
  enum class Memory { kNow, kLater };

  // kLater: only the size is known until allocate(). Throws MemoryError.
  explicit Storage(size_t bytes, Memory memory = Memory::kNow);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }     // null before allocate()
  size_t bytes() const { return bytes_; }  // as it was asked for
  // Takes the memory, unless it has it. One thread at a time may call it.
  void allocate();

 private:
  void* data_ = nullptr;
  size_t bytes_, capacity_ = 0;
};

// What the pool holds, for all threads.
struct PoolStatistics {
  size_t system_allocations = 0;  // how often the pool asked the system for memory
  size_t bytes_from_system = 0;   // held now, in use or not
  size_t bytes_in_use = 0;        // by live storages
  size_t peak_bytes_in_use = 0;   // most at once since the start, or since reset_peak_bytes()
};

// The statistics now.
PoolStatistics pool_statistics();
void reset_peak_bytes();       // starts the peak again from what is in use now
void release_unused_memory();  // returns free blocks to the system
// From now on the pool returns free blocks before it holds more than this much memory of the
// system. It does not limit what is in use at once.
void limit_memory(size_t bytes);

size_t machine_memory();  // bytes of this machine, swap included

std::string memory_text(size_t bytes);  // "1.5 GB"

}  // namespace attend
