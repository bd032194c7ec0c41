// How fast each pair turns: by the base, and by what stretches it to longer contexts.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/attention/rotary.h"
#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

// What a method makes of the frequencies base^(-2 i / d).
struct Scaled {
  const RotaryScale& by;
  double base;
  double columns;  // d

  double frequency(size_t pair) const { return frequency(pair, base); }
  double frequency(size_t pair, double of_base) const {
    return std::pow(of_base, -2.0 * static_cast<double>(pair) / columns);
  }
  double context() const { return static_cast<double>(by.original_context); }
  double ntk_base(double stretch) const {
    return base * std::pow(stretch, columns / (columns - 2.0));
  }
};

double plain(const Scaled& s, size_t pair) { return s.frequency(pair); }

double linear(const Scaled& s, size_t pair) { return s.frequency(pair) / s.by.factor; }

double ntk(const Scaled& s, size_t pair) { return s.frequency(pair, s.ntk_base(s.by.factor)); }

double dynamic_ntk(const Scaled& s, size_t pair) {
  const double times = static_cast<double>(s.by.length) / s.context();
  if (times <= 1.0) return s.frequency(pair);
  return s.frequency(pair, s.ntk_base(s.by.factor * times - (s.by.factor - 1.0)));
}

double yarn(const Scaled& s, size_t pair) {
  // The pair, as a real number, that turns so many times in the original context.
  const auto pair_of = [&](double turns) {
    return s.columns * std::log(s.context() / (turns * kTurn)) / (2.0 * std::log(s.base));
  };
  const double low = std::max(std::floor(pair_of(s.by.beta_fast)), 0.0);
  double high = std::min(std::ceil(pair_of(s.by.beta_slow)), s.columns - 1.0);
  if (high == low) high += 0.001;  // as in the authors' code: a step instead of a ramp
  const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  const double f = s.frequency(pair);
  return (1.0 - ramp) * f + ramp * f / s.by.factor;
}

double llama3(const Scaled& s, size_t pair) {
  const double f = s.frequency(pair), turns = s.context() * f / kTurn;
  const double low = s.by.low_frequency_factor, high = s.by.high_frequency_factor;
  const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
  return kept * f + (1.0 - kept) * f / s.by.factor;
}

struct ScalingEntry {
  RotaryScaling value;
  std::string_view name;
  double (*frequency)(const Scaled&, size_t pair);
  bool context;  // needs original_context
  bool ntk;      // has d - 2 in its exponent
};
constexpr ScalingEntry kScalings[] = {
    {RotaryScaling::kNone, "none", plain, false, false},
    {RotaryScaling::kLinear, "linear", linear, false, false},
    {RotaryScaling::kNtk, "ntk", ntk, false, true},
    {RotaryScaling::kDynamicNtk, "dynamic_ntk", dynamic_ntk, true, true},
    {RotaryScaling::kYarn, "yarn", yarn, true, false},
    {RotaryScaling::kLlama3, "llama3", llama3, true, false},
};

const ScalingEntry& entry_of(RotaryScaling scaling) {
  const auto* entry = std::ranges::find(kScalings, scaling, &ScalingEntry::value);
  if (entry == std::end(kScalings)) {
    throw ConfigError("rotate: there is no scaling {}", static_cast<int>(scaling));
  }
  return *entry;
}

void check_scale(const RotaryScale& by, const ScalingEntry& entry, size_t columns) {
  if (!(by.factor >= 1.0f && std::isfinite(by.factor))) {
    throw ConfigError("rotate: a scaling factor of {}; contexts grow, so 1 or more", by.factor);
  }
  if (entry.context && by.original_context == 0) {
    throw ConfigError(
        "rotate: scaling {} starts from the context that the model was trained on; set "
        "original_context",
        entry.name);
  }
  if (by.method == RotaryScaling::kDynamicNtk && by.length == 0) {
    throw ConfigError("rotate: scaling {} depends on the length to reach; set length", entry.name);
  }
  if (entry.ntk && columns <= 2) {
    throw ConfigError("rotate: scaling {} needs 4 rotated columns or more, not {}", entry.name,
                      columns);
  }
  if (!(by.beta_slow > 0.0f && by.beta_slow < by.beta_fast)) {
    throw ConfigError("rotate: beta_fast {} should be above beta_slow {}, and both above 0",
                      by.beta_fast, by.beta_slow);
  }
  if (!(by.low_frequency_factor > 0.0f && by.low_frequency_factor < by.high_frequency_factor)) {
    throw ConfigError(
        "rotate: high_frequency_factor {} should be above low_frequency_factor {}, and both above "
        "0",
        by.high_frequency_factor, by.low_frequency_factor);
  }
}

std::vector<double> given_frequencies(const Rotary& rotary, size_t columns) {
  const std::vector<float>& given = rotary.inverse_frequencies;
  if (given.size() != columns / 2) {
    throw ConfigError("rotate: {} inverse frequencies for {} pairs of columns", given.size(),
                      columns / 2);
  }
  if (rotary.scaling.method != RotaryScaling::kNone) {
    throw ConfigError(
        "rotate: inverse frequencies are used as they are, but scaling is {}; leave one of them "
        "out",
        name_of(rotary.scaling.method));
  }
  return {given.begin(), given.end()};
}

}  // namespace

std::string_view name_of(RotaryScaling scaling) { return name_from_value(kScalings, scaling); }

size_t rotated_columns(const Rotary& rotary, size_t width) {
  if (rotary.rotated != 0) return rotary.rotated;
  return rotary.inverse_frequencies.empty() ? width : 2 * rotary.inverse_frequencies.size();
}

std::vector<double> rotary_frequencies(const Rotary& rotary, size_t width) {
  const size_t columns = rotated_columns(rotary, width);
  if (columns % 2 != 0 || columns > width) {
    throw ConfigError("rotate: {} of {} columns of a head cannot turn in pairs", columns, width);
  }
  if (!rotary.inverse_frequencies.empty()) return given_frequencies(rotary, columns);
  if (!(rotary.base > 1.0f && std::isfinite(rotary.base))) {
    throw ConfigError("rotate: a base of {}; it should be a finite number above 1", rotary.base);
  }
  const ScalingEntry& entry = entry_of(rotary.scaling.method);
  check_scale(rotary.scaling, entry, columns);
  const Scaled scaled{rotary.scaling, rotary.base, static_cast<double>(columns)};
  std::vector<double> frequencies(columns / 2);
  for (size_t i = 0; i < frequencies.size(); ++i) frequencies[i] = entry.frequency(scaled, i);
  return frequencies;
}

double rotary_attention_factor(const RotaryScale& scaling) {
  if (scaling.attention_factor != 0.0f) return scaling.attention_factor;
  if (scaling.method != RotaryScaling::kYarn) return 1.0;
  return 0.1 * std::log(double{scaling.factor}) + 1.0;
}

}  // namespace attend
