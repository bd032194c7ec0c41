#include "attend/nn/conv2d.h"

#include "attend/base/error.h"

namespace attend {

Conv2d::Conv2d(const Conv2dConfig& c, Rng& rng) : config(c) {
  if (c.in == 0 || c.out == 0 || c.kernel.height == 0 || c.kernel.width == 0 || c.groups == 0 ||
      c.in % c.groups != 0 || c.out % c.groups != 0) {
    throw ConfigError("conv2d: no layer has {} channels to {}, kernel {} x {}, in {} groups", c.in,
                      c.out, c.kernel.height, c.kernel.width, c.groups);
  }
  weight = parameter({c.out, c.in / c.groups, c.kernel.height, c.kernel.width}, c.init, rng);
  if (c.bias) bias = parameter({c.out}, Init::kZeros, rng);
}

}  // namespace attend
