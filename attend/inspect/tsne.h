// Vectors as points of a plane, so that neighbours stay neighbours: t-SNE (van der Maaten and
// Hinton, 2008), computed exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// The most points: all pairs are kept in memory, 100 MB of them, and time grows with their number.
inline constexpr size_t kMostTsnePoints = 5000;
// The fewest.
inline constexpr size_t kFewestTsnePoints = 5;

struct TsneConfig {
  double perplexity = 30;    // about how many neighbours count; at most a third of the others
  size_t iterations = 1000;  // the first quarter, up to 250, exaggerates attraction 12 times
  uint64_t seed = 1;         // of small displacements at the start
};

// Called after some iterations; returns false to stop.
using TsneListener = std::function<bool(size_t iteration)>;

struct TsnePoints {
  Tensor points;                    // [rows, 2]
  std::vector<double> divergences;  // Kullback-Leibler, at every 50th iteration after exaggeration
  double perplexity = 0;            // that was used
};

// Rows wider than 50 become their first 50 principal components, and start from the first two. The
// same bits for a seed on any number of threads. Throws DataError for too few rows, too many, or a
// value that is not finite, and ConfigError for a perplexity below 1.
TsnePoints tsne(const Tensor& rows, const TsneConfig& config = {},
                const TsneListener& listener = {});

}  // namespace attend
