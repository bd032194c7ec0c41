// Memory for tensors, kept and reused: once a training or decoding step has run, the next one like
// it asks the system for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace attend {

// A block of memory, 64-byte aligned, from the pool; goes back to it when the last owner lets go.
class Storage {
 public:
  explicit Storage(size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_;
  size_t bytes_, capacity_;
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

}  // namespace attend
