// Self-attention between the pixels of a feature map: SAGAN (Zhang et al., 2019), and the non-local
// block (Wang et al., 2018) that it follows.
#pragma once

#include "attend/attention/attention.h"
#include "attend/nn/linear.h"

namespace attend {

struct FeatureMapConfig {
  size_t channels = 0;
  size_t key_channels = 0;    // of queries and keys; 0: an eighth of channels
  size_t value_channels = 0;  // 0: half of channels
  size_t heads = 1;
  // Keys and values are max-pooled over squares of this side; 2 saves 3/4 of the work.
  size_t pool = 1;
};

// x + gate attention(x), by 1x1 convolutions, which are linear layers over pixels. The gate starts
// at 0, so that the layer starts as the identity and can be added to a trained network.
struct FeatureMapAttention {
  FeatureMapConfig config;
  std::string name;  // for a Recorder, to which an image is one sequence, pixels row by row
  Linear query, key, value, output;
  Tensor gate;  // [1]

  FeatureMapAttention() = default;
  FeatureMapAttention(const FeatureMapConfig& config, Rng& rng);

  // x [batch, height, width, channels] to the same.
  Tensor operator()(const Tensor& x) const;

  void visit(Visitor& v);
};

}  // namespace attend
