#include "attend/base/rng.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "attend/base/parallel.h"

namespace attend {
namespace {

constexpr size_t kGrain = 1 << 14;

uint32_t high_half(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

}  // namespace

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = high_half(key);
  uint32_t c0 = static_cast<uint32_t>(counter_low), c1 = high_half(counter_low);
  uint32_t c2 = static_cast<uint32_t>(counter_high), c3 = high_half(counter_high);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c0, p1 = uint64_t{0xCD9E8D57} * c2;
    c0 = high_half(p1) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = high_half(p0) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

uint64_t RandomStream::bits(uint64_t place) const {
  const auto r = philox(seed_, place, stream_);
  return (uint64_t{r[1]} << 32) | r[0];
}

float RandomStream::uniform(uint64_t place) const {
  return static_cast<float>(bits(place) >> 40) * 0x1p-24f;
}

double RandomStream::normal(uint64_t place) const {
  const auto r = philox(seed_, place, stream_);
  const double u = (r[0] + 1.0) * 0x1p-32;  // (0, 1]: its logarithm is finite
  const double v = r[1] * 0x1p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

bool RandomStream::bernoulli(uint64_t place, double chance) const {
  return static_cast<double>(bits(place) >> 11) * 0x1p-53 < chance;
}

uint64_t RandomStream::below(uint64_t place, uint64_t bound) const {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits(place)) * bound) >> 64);
}

void fill_uniform(std::span<float> out, RandomStream random, float low, float high) {
  parallel_for(out.size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out[i] = low + (high - low) * random.uniform(i);
  });
}

void fill_normal(std::span<float> out, RandomStream random, float mean, float deviation) {
  parallel_for(out.size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      out[i] = static_cast<float>(mean + deviation * random.normal(i));
    }
  });
}

void fill_permutation(std::span<uint32_t> order, RandomStream random) {
  std::iota(order.begin(), order.end(), 0u);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i, i)]);
}

}  // namespace attend
