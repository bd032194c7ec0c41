// Columns in registers, rows one after another.
#include "attend/kernels/chain.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/chain.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;
constexpr size_t kMostLanes = hn::MaxLanes(DD());

// Doubles that fill a register, or what there is of one.
struct Doubles {
  size_t count;

  HWY_INLINE VD Load(const double* p) const {
    if (count == hn::Lanes(DD())) return hn::LoadU(DD(), p);
    HWY_ALIGN double all[kMostLanes] = {};
    std::copy_n(p, count, all);
    return hn::Load(DD(), all);
  }
  HWY_INLINE void Store(VD v, double* p) const {
    if (count == hn::Lanes(DD())) return hn::StoreU(v, DD(), p);
    HWY_ALIGN double all[kMostLanes];
    hn::Store(v, DD(), all);
    std::copy_n(all, count, p);
  }
};

// Calls body(i, doubles) for the registers of [0, size).
template <typename Body>
HWY_INLINE void ForDoubles(size_t size, const Body& body) {
  const size_t lanes = hn::Lanes(DD());
  for (size_t i = 0; i < size; i += lanes) body(i, Doubles{std::min(lanes, size - i)});
}

void PowersOf(const double* x, double offset, size_t size, double* y) {
  ForDoubles(size, [&](size_t i, Doubles at) {
    at.Store(hn::Exp(DD(), hn::Sub(at.Load(x + i), hn::Set(DD(), offset))), y + i);
  });
}

void LogarithmsOf(const double* x, double offset, size_t size, double* y) {
  ForDoubles(size, [&](size_t i, Doubles at) {
    at.Store(hn::Add(hn::Set(DD(), offset), hn::Log(DD(), at.Load(x + i))), y + i);
  });
}

// Calls body(j, registers) for the columns, as many registers at a time as there are columns for.
template <typename Body>
HWY_INLINE void ForColumns(size_t n, const Body& body) {
  const size_t lanes = hn::Lanes(DD());
  size_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) body(j, std::integral_constant<size_t, 4>());
  for (; j < n; j += lanes) body(j, std::integral_constant<size_t, 1>());
}

void VectorTimesMatrix(const double* x, const double* a, size_t m, size_t n, double* y) {
  const size_t lanes = hn::Lanes(DD());
  ForColumns(n, [&](size_t j, auto registers) {
    VD sums[registers];
    for (VD& sum : sums) sum = hn::Zero(DD());
    for (size_t i = 0; i < m; ++i) {
      const VD factor = hn::Set(DD(), x[i]);
      for (size_t k = 0; k < registers; ++k) {
        sums[k] = hn::MulAdd(factor, hn::LoadU(DD(), a + i * n + j + k * lanes), sums[k]);
      }
    }
    for (size_t k = 0; k < registers; ++k) hn::StoreU(sums[k], DD(), y + j + k * lanes);
  });
}

void AddOuterProduct(const double* x, const double* y, size_t m, size_t n, double* a) {
  const size_t lanes = hn::Lanes(DD());
  ForColumns(n, [&](size_t j, auto registers) {
    VD columns[registers];
    for (size_t k = 0; k < registers; ++k) columns[k] = hn::LoadU(DD(), y + j + k * lanes);
    for (size_t i = 0; i < m; ++i) {
      const VD factor = hn::Set(DD(), x[i]);
      for (size_t k = 0; k < registers; ++k) {
        double* const to = a + i * n + j + k * lanes;
        hn::StoreU(hn::MulAdd(factor, columns[k], hn::LoadU(DD(), to)), DD(), to);
      }
    }
  });
}

void LargestSums(const double* x, const double* a, size_t m, size_t n, double* y, int32_t* from) {
  const size_t lanes = hn::Lanes(DD());
  ForColumns(n, [&](size_t j, auto registers) {
    VD largest[registers], first[registers];
    for (size_t k = 0; k < registers; ++k) {
      largest[k] = hn::Add(hn::Set(DD(), x[0]), hn::LoadU(DD(), a + j + k * lanes));
      first[k] = hn::Zero(DD());
    }
    for (size_t i = 1; i < m; ++i) {
      const VD before = hn::Set(DD(), x[i]), number = hn::Set(DD(), static_cast<double>(i));
      for (size_t k = 0; k < registers; ++k) {
        const VD sum = hn::Add(before, hn::LoadU(DD(), a + i * n + j + k * lanes));
        const auto larger = hn::Gt(sum, largest[k]);
        largest[k] = hn::IfThenElse(larger, sum, largest[k]);
        first[k] = hn::IfThenElse(larger, number, first[k]);
      }
    }
    for (size_t k = 0; k < registers; ++k) {
      HWY_ALIGN double numbers[kMostLanes];
      hn::StoreU(largest[k], DD(), y + j + k * lanes);
      hn::Store(first[k], DD(), numbers);
      for (size_t i = 0; i < lanes; ++i) {
        from[j + k * lanes + i] = static_cast<int32_t>(numbers[i]);
      }
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(PowersOf);
HWY_EXPORT(LogarithmsOf);
HWY_EXPORT(VectorTimesMatrix);
HWY_EXPORT(AddOuterProduct);
HWY_EXPORT(LargestSums);

void powers_of(const double* x, double offset, size_t size, double* y) {
  HWY_DYNAMIC_DISPATCH(PowersOf)(x, offset, size, y);
}

void logarithms_of(const double* x, double offset, size_t size, double* y) {
  HWY_DYNAMIC_DISPATCH(LogarithmsOf)(x, offset, size, y);
}

void vector_times_matrix(const double* x, const double* a, size_t m, size_t n, double* y) {
  HWY_DYNAMIC_DISPATCH(VectorTimesMatrix)(x, a, m, n, y);
}

void add_outer_product(const double* x, const double* y, size_t m, size_t n, double* a) {
  HWY_DYNAMIC_DISPATCH(AddOuterProduct)(x, y, m, n, a);
}

void largest_sums(const double* x, const double* a, size_t m, size_t n, double* y, int32_t* from) {
  HWY_DYNAMIC_DISPATCH(LargestSums)(x, a, m, n, y, from);
}

}  // namespace attend::kernels
#endif
