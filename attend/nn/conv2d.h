// Convolution layers over images.
#pragma once

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/ops/conv.h"

namespace attend {

struct Conv2dConfig {
  size_t in = 0, out = 0;
  Extent2 kernel = 1, stride = 1, padding = 0, dilation = 1;
  size_t groups = 1;  // as many groups as channels: depthwise
  bool bias = true;
  Init init = Init::kFanIn;  // of the weight; the bias starts at zero
};

// A convolution over a batch of images:
//   Conv2d stem({.in = 3, .out = 64, .kernel = 7, .stride = 2, .padding = 3}, rng);
//   Conv2d patches({.in = 3, .out = 512, .kernel = 16, .stride = 16}, rng);
struct Conv2d {
  Conv2dConfig config;
  Tensor weight;  // [out, in / groups, kernel height, kernel width]
  Tensor bias;    // [out], or undefined

  Conv2d() = default;
  Conv2d(const Conv2dConfig& config, Rng& rng);

  // x [batch, height, width, in] to [batch, height', width', out].
  Tensor operator()(const Tensor& x) const {
    return conv2d(x, weight, bias,
                  {.stride = config.stride,
                   .padding = config.padding,
                   .dilation = config.dilation,
                   .groups = config.groups});
  }

  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace attend
