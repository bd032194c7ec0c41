#include "attend/serve/idle_memory.h"

#include <malloc.h>

#include "attend/base/storage.h"

namespace attend {

IdleMemory::~IdleMemory() {
  const PoolStatistics pool = pool_statistics();
  if (pool.bytes_from_system - pool.bytes_in_use > kKept) release_unused_memory();
#ifdef M_TRIM_THRESHOLD
  malloc_trim(0);  // a millisecond
#endif
}

}  // namespace attend
