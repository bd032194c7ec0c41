// Which lines go through a model together: those of like lengths, longest first.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attend {

// The numbers of the lines of each batch. A batch has at most `most` tokens, or one line.
std::vector<std::vector<size_t>> batches_by_length(std::span<const size_t> lengths, size_t most);

}  // namespace attend
