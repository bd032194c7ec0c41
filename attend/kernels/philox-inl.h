// Philox4x32-10 (see base/rng.h) on SIMD registers, and the dropout mask made of it; included once
// for each SIMD target. Which bits an element gets is defined in kernels/dropout.h.
#if defined(ATTEND_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_PHILOX_INL_H_
#undef ATTEND_KERNELS_PHILOX_INL_H_
#else
#define ATTEND_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "attend/kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Eight Philox blocks decide on 64 elements, as 4 groups of 16: the random bits then lie where they
// are needed without a shuffle, for any lane count up to 16. A tile is two of those, which hide
// each other's latency.
inline constexpr size_t kMaskTile = 128, kMaskGroup = 16;

using MaskD = hn::CappedTag<float, kMaskGroup>;
using MaskDU32 = hn::RebindToUnsigned<MaskD>;
using MaskDU64 = hn::Repartition<uint64_t, MaskDU32>;
using MaskVU32 = hn::Vec<MaskDU32>;
using MaskVU64 = hn::Vec<MaskDU64>;

// The mask of one Dropout, readable at any tile.
class KeepMask {
 public:
  explicit KeepMask(const Dropout& options)
      : threshold_(static_cast<int32_t>(options.threshold())),
        stream_low_(options.random.stream() & 0xFFFFFFFF),
        stream_high_(options.random.stream() >> 32) {
    uint32_t k0 = static_cast<uint32_t>(options.random.seed());
    uint32_t k1 = static_cast<uint32_t>(options.random.seed() >> 32);
    for (int round = 0; round < kRounds; ++round) {
      key_low_[round] = k0;
      key_high_[round] = k1;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
  }

  // Calls visit(at, keep) for all vectors of the tile: `keep` masks its elements at .. at + lanes
  // - 1.
  template <typename Visit>
  HWY_INLINE void ForTile(size_t tile, const Visit& visit) const {
    for (size_t lane = 0; lane < kMaskGroup; lane += hn::Lanes(MaskDU32())) {
      Blocks a(*this, tile * 16 + lane / 2), b(*this, tile * 16 + 8 + lane / 2);
      HWY_UNROLL(10)
      for (int round = 0; round < kRounds; ++round) {
        a.Round(key_low_[round], key_high_[round]);
        b.Round(key_low_[round], key_high_[round]);
      }
      VisitHalf(a, lane, visit);
      VisitHalf(b, lane + kMaskTile / 2, visit);
    }
  }

 private:
  static constexpr int kRounds = 10;

  // Consecutive Philox blocks, one per 64 bits of each register. A word occupies the lower half;
  // the upper half is never read and may hold anything.
  struct Blocks {
    HWY_INLINE Blocks(const KeepMask& mask, uint64_t first)
        : c0(hn::Add(hn::Set(MaskDU64(), first), hn::Iota(MaskDU64(), 0))),
          c1(hn::ShiftRight<32>(c0)),
          c2(hn::Set(MaskDU64(), mask.stream_low_)),
          c3(hn::Set(MaskDU64(), mask.stream_high_)) {}

    HWY_INLINE void Round(uint64_t key_low, uint64_t key_high) {
      const MaskDU64 d;
      const MaskDU32 d32;
      const auto p0 = hn::MulEven(hn::BitCast(d32, c0), hn::Set(d32, 0xD2511F53));
      const auto p1 = hn::MulEven(hn::BitCast(d32, c2), hn::Set(d32, 0xCD9E8D57));
      c0 = hn::Xor(hn::ShiftRight<32>(p1), hn::Xor(c1, hn::Set(d, key_low)));
      c1 = p1;
      c2 = hn::Xor(hn::ShiftRight<32>(p0), hn::Xor(c3, hn::Set(d, key_high)));
      c3 = p0;
    }

    MaskVU64 c0, c1, c2, c3;
  };

  template <typename Visit>
  HWY_INLINE void VisitHalf(const Blocks& blocks, size_t at, const Visit& visit) const {
    const MaskVU32 low = Interleave(blocks.c0, blocks.c1), high = Interleave(blocks.c2, blocks.c3);
    visit(at, LowHalfBelow(low));
    visit(at + kMaskGroup, HighHalfBelow(low));
    visit(at + 2 * kMaskGroup, LowHalfBelow(high));
    visit(at + 3 * kMaskGroup, HighHalfBelow(high));
  }

  static HWY_INLINE MaskVU32 Interleave(MaskVU64 even, MaskVU64 odd) {
    const MaskDU32 d;
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  }
  HWY_INLINE hn::Mask<MaskD> LowHalfBelow(MaskVU32 words) const {
    const hn::RebindToSigned<MaskD> di;
    const auto bits = hn::BitCast(di, hn::And(words, hn::Set(MaskDU32(), 0xFFFF)));
    return hn::RebindMask(MaskD(), hn::Lt(bits, hn::Set(di, threshold_)));
  }
  HWY_INLINE hn::Mask<MaskD> HighHalfBelow(MaskVU32 words) const {
    const hn::RebindToSigned<MaskD> di;
    const auto bits = hn::BitCast(di, hn::ShiftRight<16>(words));
    return hn::RebindMask(MaskD(), hn::Lt(bits, hn::Set(di, threshold_)));
  }

  int32_t threshold_;
  uint64_t stream_low_, stream_high_;
  uint64_t key_low_[kRounds], key_high_[kRounds];
};

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
