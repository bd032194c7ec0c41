#include "attend/kernels/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/parallel.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {
namespace {

TEST(Machine, NamesTheTarget) {
  for_each_target(
      [] { EXPECT_EQ(std::string(simd_target()), hwy::TargetName(hwy::SupportedTargets())); });
}

// The targets of all that this CPU runs, best first.
std::vector<std::string_view> runnable(const std::vector<std::string_view>& all) {
  std::vector<std::string_view> found;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::string_view name = hwy::TargetName(rest & -rest);
    if (std::ranges::count(all, name) > 0) found.push_back(name);
  }
  return found;
}

TEST(Machine, HasTheTargetsThatTheBuildAskedFor) {
#if HWY_ARCH_X86
  const std::vector<std::string_view> all{"AVX3", "AVX2", "SSE4"};
#else
  const std::vector<std::string_view> all{"NEON"};
#endif
  const auto compiled = compiled_simd_targets();
  const auto here = runnable(all);
  const std::string_view asked = ATTEND_SIMD;
  if (asked == "all") {
    EXPECT_EQ(compiled, all);
  }
  if (asked == "native") {
    EXPECT_EQ(compiled, here);
  }
  if (asked == "best") {
    EXPECT_EQ(compiled.front(), here.front());
    EXPECT_EQ(compiled.back(), all.back());
    EXPECT_LE(compiled.size(), 2u);
  }
}

TEST(Machine, RunsTheBestTargetThatThisCpuHas) {
  EXPECT_EQ(simd_target(), runnable(compiled_simd_targets()).front());
}

TEST(Machine, CountsTheOperationsOfAllThreads) {
  for_each_target([] {
    const ThreadCountScope one(1);
    const double flops = fma_work(10);
    EXPECT_GE(flops, 2.0 * 12 * 4 * 10);
    const ThreadCountScope three(3);
    EXPECT_EQ(fma_work(10), 3 * flops);
  });
}

TEST(Machine, ReadsEveryElementOnce) {
  for_each_target([] {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{37}, size_t{600001}}) {
      const std::vector<float> x(size + 1, 1.0f);
      EXPECT_EQ(read_work(x.data() + 1, size), static_cast<double>(size));
    }
  });
}

TEST(Machine, UpdatesEveryElementOnce) {
  for_each_target([] {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{37}, size_t{600001}}) {
      std::vector<float> x(size + 2, 4.0f);
      const std::vector<float> y(size + 1, 1.0f);
      update_work(x.data() + 1, y.data() + 1, size);
      EXPECT_EQ(x.front(), 4.0f);
      EXPECT_EQ(x.back(), 4.0f);
      for (size_t i = 1; i <= size; ++i) ASSERT_EQ(x[i], 3.0f);
    }
  });
}

}  // namespace
}  // namespace attend::kernels
