#include "attend/nn/conv1d.h"

#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<ConvPadding> kPaddings[] = {
    {ConvPadding::kExplicit, "explicit"},
    {ConvPadding::kSame, "same"},
    {ConvPadding::kCausal, "causal"},
};

Conv1dConfig depthwise_of(Conv1dConfig config) {
  if (config.groups != 1) {
    throw ConfigError("separable conv1d: its parts have groups already; {} groups must be 1",
                      config.groups);
  }
  config.out = config.groups = config.in;
  config.bias = false;
  return config;
}

}  // namespace

std::string_view name_of(ConvPadding padding) { return name_from_value(kPaddings, padding); }

Conv1dOptions Conv1dConfig::options() const {
  Conv1dOptions result{
      .stride = stride, .dilation = dilation, .groups = groups, .left = left, .right = right};
  const size_t reach = (std::max<size_t>(kernel, 1) - 1) * dilation;
  if (padding == ConvPadding::kCausal) {
    result.left = reach;
    result.right = 0;
  } else if (padding == ConvPadding::kSame) {
    if (stride != 1)
      throw ConfigError("conv1d: padding 'same' with stride {}; give left and right", stride);
    result.left = reach / 2;
    result.right = reach - result.left;
  }
  return result;
}

Conv1d::Conv1d(const Conv1dConfig& c, Rng& rng) : config(c) {
  if (c.in == 0 || c.out == 0 || c.kernel == 0 || c.groups == 0 || c.in % c.groups != 0 ||
      c.out % c.groups != 0) {
    throw ConfigError("conv1d: no layer has {} channels to {}, kernel {}, in {} groups", c.in,
                      c.out, c.kernel, c.groups);
  }
  c.options();  // refuses now what the first call would
  weight = parameter({c.out, c.in / c.groups, c.kernel}, c.init, rng);
  if (c.bias) bias = parameter({c.out}, Init::kZeros, rng);
}

SeparableConv1d::SeparableConv1d(const Conv1dConfig& config, Rng& rng)
    : depthwise(depthwise_of(config), rng),
      pointwise({.in = config.in, .out = config.out, .bias = config.bias, .init = config.init},
                rng) {}

}  // namespace attend
