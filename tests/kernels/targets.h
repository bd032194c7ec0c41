// Runs a kernel test once for each SIMD target this CPU has.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace attend::kernels {

// Calls test() with run-time dispatch pinned to each of the targets in turn.
template <typename Test>
void for_each_target(Test&& test) {
  constexpr int64_t kCompiled = HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON;
  const int64_t supported = hwy::SupportedTargets() & kCompiled;
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    SCOPED_TRACE(hwy::TargetName(target));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace attend::kernels
