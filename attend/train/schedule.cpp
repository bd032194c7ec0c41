#include "attend/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<ScheduleKind> kScheduleKinds[] = {{ScheduleKind::kConstant, "constant"},
                                                  {ScheduleKind::kInverseSqrt, "inverse_sqrt"},
                                                  {ScheduleKind::kCosine, "cosine"},
                                                  {ScheduleKind::kLinear, "linear"}};

}  // namespace

std::string_view name_of(ScheduleKind kind) { return name_from_value(kScheduleKinds, kind); }

void ScheduleConfig::check() const {
  check_ranges(*this, "schedule");
  if (!(floor >= 0.0 && floor <= 1.0)) {
    throw ConfigError("schedule: floor is {}; it must be between 0 and 1, a share of the rate",
                      floor);
  }
}

int64_t warmup_steps(const ScheduleConfig& config, int64_t total) {
  return config.warmup.value_or(std::min<int64_t>(1000, total / 10));
}

double schedule_factor(const ScheduleConfig& config, int64_t step, int64_t total) {
  const auto now = static_cast<double>(step),
             warmup = static_cast<double>(warmup_steps(config, total));
  if (now < warmup) return now / warmup;
  const double length = std::max(1.0, static_cast<double>(total) - warmup);
  const double done = std::clamp((now - warmup) / length, 0.0, 1.0);
  switch (config.kind) {
    case ScheduleKind::kConstant:
      return 1.0;
    case ScheduleKind::kInverseSqrt:
      return std::sqrt(std::max(1.0, warmup) / std::max(1.0, now));
    case ScheduleKind::kCosine:
      return config.floor + (1 - config.floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
    case ScheduleKind::kLinear:
      return config.floor + (1 - config.floor) * (1 - done);
  }
  return 1.0;
}

}  // namespace attend
