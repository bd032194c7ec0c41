// Files that a run was writing when it was killed.
#pragma once

#include "attend/io/model_directory.h"

namespace attend {

// Removes those of the names that runs write (AtomicFile writes into .NAME.aB3dE6). Whoever calls
// it holds the DirectoryLock.
void clean_leftovers(const ModelDirectory& directory);

}  // namespace attend
