// Initial values of parameters, by name.
#pragma once

#include <string_view>

#include "attend/base/rng.h"
#include "attend/tensor/tensor.h"

namespace attend {

// How values are drawn. For a weight [out, in, ...], fan_out = out x the rest and fan_in = in x the
// rest.
enum class Init {
  kZeros,
  kOnes,
  kUniform,        // U(-scale, scale)
  kNormal,         // N(0, scale^2)
  kXavierUniform,  // Glorot and Bengio, 2010
  kXavierNormal,
  kKaimingUniform,  // He et al., 2015, for ReLU
  kKaimingNormal,
  kFanIn,       // U(-1, 1) / sqrt(fan_in), usual for recurrent and linear layers
  kOrthogonal,  // Saxe et al., 2014
};

std::string_view name_of(Init init);

// While one lives, parameters and buffers that this thread makes have shapes but no memory and no
// values. load_weights() (attend/io/safetensors.h) provides both, if the file fits.
class ShapesOnly {
 public:
  ShapesOnly();
  ~ShapesOnly();
  ShapesOnly(const ShapesOnly&) = delete;
  ShapesOnly& operator=(const ShapesOnly&) = delete;

 private:
  bool before_;
};

// Fills x, if it has memory. `scale` multiplies the range or deviation; for kUniform and kNormal it
// is the range or deviation.
void initialize(const Tensor& x, Init init, RandomStream random, float scale = 1.0f);

// New leaves that require gradients.
Tensor parameter(const Shape& shape, Init init, Rng& rng, float scale = 1.0f);
Tensor constant_parameter(const Shape& shape, float value);
Tensor constant_buffer(const Shape& shape, float value);  // gets no gradient

}  // namespace attend
