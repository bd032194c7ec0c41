// How the learning rate changes during training.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attend/base/limits.h"

namespace attend {

// How the learning rate changes over a run.
enum class ScheduleKind {
  kConstant,
  kInverseSqrt,  // sqrt(warmup / step) after the warm-up (Vaswani et al., 2017)
  kCosine,       // half a wave down to the floor at the last step (Loshchilov and Hutter, 2017)
  kLinear,       // a line down to the floor at the last step
};
std::string_view name_of(ScheduleKind kind);

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kInverseSqrt;
  // Steps in which the rate rises from 0, along a line; none: see warmup_steps().
  std::optional<int64_t> warmup;
  double floor = 0.0;  // of cosine and linear: the part of the rate that is left at the end

  bool operator==(const ScheduleConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("kind", kind, "how the rate changes after the warm-up");
    v("warmup", warmup,
      "steps in which the rate rises from 0; none: 1000, or a tenth of all steps if that is fewer",
      limits::kSteps.or_0());
    v("floor", floor, "cosine, linear: share of the peak rate that is left at the last step");
  }

  void check() const;  // throws ConfigError
};

// What the config says; or else 1000, and at most a tenth of `total`.
int64_t warmup_steps(const ScheduleConfig& config, int64_t total);

// What the rate is multiplied with at a step, which counts from 1, of `total`.
double schedule_factor(const ScheduleConfig& config, int64_t step, int64_t total);

}  // namespace attend
