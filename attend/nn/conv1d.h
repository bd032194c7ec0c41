// Convolution layers over packed sequences.
#pragma once

#include <string_view>

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/ops/conv.h"

namespace attend {

// The zeros before and after a sequence.
enum class ConvPadding {
  kExplicit,  // `left` and `right` rows of zeros
  kSame,      // as many on both sides as keep the length; an odd one goes to the right
  kCausal,    // all on the left: row t sees rows up to t (WaveNet, van den Oord et al., 2016)
};

std::string_view name_of(ConvPadding padding);

struct Conv1dConfig {
  size_t in = 0, out = 0, kernel = 1;
  size_t stride = 1, dilation = 1, groups = 1;
  ConvPadding padding = ConvPadding::kExplicit;
  size_t left = 0, right = 0;  // for kExplicit
  bool bias = true;
  Init init = Init::kFanIn;  // of the weight; the bias starts at zero

  // The options of the op. Throws ConfigError for kSame with a stride.
  Conv1dOptions options() const;
};

// A convolution over each sequence of a packed batch:
//   Conv1d conv({.in = 128, .out = 128, .kernel = 3, .dilation = 2, .padding =
//   ConvPadding::kCausal}, rng);
struct Conv1d {
  Conv1dConfig config;
  Tensor weight;  // [out, in / groups, kernel]
  Tensor bias;    // [out], or undefined

  Conv1d() = default;
  Conv1d(const Conv1dConfig& config, Rng& rng);

  // x [rows, in]. The result has its own packing, which is the same where no length changes.
  Sequences operator()(const Tensor& x, const Packing& packing) const {
    return conv1d(x, packing, weight, bias, config.options());
  }

  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

// Convolves each channel by itself, then mixes the channels row by row (Chollet, 2017): a wide
// kernel at little more than the cost of a kernel of 1.
struct SeparableConv1d {
  Conv1d depthwise, pointwise;

  SeparableConv1d() = default;
  // `config` is that of the full convolution that this replaces; its groups must be 1.
  SeparableConv1d(const Conv1dConfig& config, Rng& rng);

  // x [rows, in].
  Sequences operator()(const Tensor& x, const Packing& packing) const {
    const auto [rows, lengths] = depthwise(x, packing);
    return pointwise(rows, lengths);
  }

  void visit(Visitor& v) {
    v("depthwise", depthwise);
    v("pointwise", pointwise);
  }
};

}  // namespace attend
