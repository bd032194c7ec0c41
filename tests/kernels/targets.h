// Runs a kernel test once for each SIMD target that was compiled and that this CPU has.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "attend/kernels/machine.h"

namespace attend::kernels {

// Calls test() with run-time dispatch pinned to each of the targets in turn.
template <typename Test>
void for_each_target(Test&& test) {
  const auto compiled = compiled_simd_targets();
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    if (std::ranges::count(compiled, std::string_view(hwy::TargetName(target))) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    SCOPED_TRACE(hwy::TargetName(target));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace attend::kernels
