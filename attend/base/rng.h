// Counter-based random numbers: Philox4x32-10 (Salmon et al., 2011, "Parallel random numbers: as
// easy as 1, 2, 3"). A number is a function of (seed, stream, place), not of earlier calls, so it
// is the same on any thread and after any number of resumes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace attend {

// The raw generator: 128 random bits from a 64-bit key and a 128-bit counter.
std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high);

// An endless table of random numbers that can be read at any place. Reading changes nothing, so
// threads may share a stream.
class RandomStream {
 public:
  constexpr RandomStream(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  // What it was made from.
  constexpr uint64_t seed() const { return seed_; }
  constexpr uint64_t stream() const { return stream_; }

  uint64_t bits(uint64_t place) const;                   // 64 random bits
  float uniform(uint64_t place) const;                   // [0, 1), a multiple of 2^-24
  double normal(uint64_t place) const;                   // mean 0, variance 1 (Box-Muller)
  bool bernoulli(uint64_t place, double chance) const;   // true with probability `chance`
  uint64_t below(uint64_t place, uint64_t bound) const;  // [0, bound)

 private:
  uint64_t seed_, stream_;
};

// Gives a new stream at each call: the same ones, in the same order, for the same seed. Whatever
// needs randomness (an initialiser, a dropout call) takes one stream and reads it in parallel. The
// whole state is two numbers, which can be saved and restored. Not for use by several threads at
// once.
class Rng {
 public:
  explicit constexpr Rng(uint64_t seed, uint64_t next = 0) : seed_(seed), next_(next) {}

  // The next stream.
  RandomStream stream() { return {seed_, next_++}; }
  // The state: Rng(seed(), next()) continues from here.
  constexpr uint64_t seed() const { return seed_; }
  constexpr uint64_t next() const { return next_; }

 private:
  uint64_t seed_, next_;
};

// Random values: uniform in [low, high), or normal.
void fill_uniform(std::span<float> out, RandomStream random, float low, float high);
void fill_normal(std::span<float> out, RandomStream random, float mean, float deviation);

// A random order of 0 .. order.size() - 1.
void fill_permutation(std::span<uint32_t> order, RandomStream random);

}  // namespace attend
