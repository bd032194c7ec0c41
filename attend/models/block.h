// The blocks of Transformers: attention and a feed-forward layer, each added to its input, with a
// norm before or after (Vaswani et al., 2017; Xiong et al., 2020).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attend/models/placed_embedding.h"
#include "attend/nn/dropout.h"
#include "attend/nn/norm.h"

namespace attend {

// Where the norm of a sublayer is.
enum class NormPlace {
  kPre,   // x + f(norm(x)), and a norm at the end (Xiong et al., 2020)
  kPost,  // norm(x + f(x)), as published
};
std::string_view name_of(NormPlace place);

// Layer norm or RMS norm.
enum class NormKind { kLayer, kRms };
std::string_view name_of(NormKind kind);

// The activation of feed-forward layers; kSwiglu also gates them.
enum class FeedForwardKind { kRelu, kGelu, kGeluTanh, kSwiglu };
std::string_view name_of(FeedForwardKind kind);

// The settings that all blocks of a model share.
struct BlockConfig {
  size_t width = 0, feed_forward = 0;
  MultiHeadConfig attention = {};  // all but its width, causality and dropout of weights
  NormPlace norm_place = NormPlace::kPre;
  NormKind norm = NormKind::kLayer;
  float norm_epsilon = 1e-5f;
  FeedForwardKind activation = FeedForwardKind::kRelu;
  bool bias = true;                 // of linear layers and layer norms
  float dropout = 0.0f;             // of each sublayer's output
  float activation_dropout = 0.0f;  // inside the feed-forward layers
};

// Throws ConfigError, which begins with `model`, for a weighting that passes no gradient, or that
// needs ordered keys, which self-attention does not have.
void check_self_attention(std::string_view model, const MultiHeadConfig& config);

// A layer norm or an RMS norm.
struct Norm {
  NormKind kind = NormKind::kLayer;
  Tensor weight, bias;  // [width]; an RMS norm has no bias, and a layer norm may have none
  float epsilon = 1e-5f;

  Norm() = default;
  explicit Norm(const BlockConfig& config);
  // x [rows, width] to the same shape.
  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

// Two linear layers applied to each row; SwiGLU (Shazeer, 2020) has a gate beside the first.
struct FeedForward {
  FeedForwardKind kind = FeedForwardKind::kRelu;
  float dropout = 0.0f;
  Linear in, gate, out;

  FeedForward() = default;
  FeedForward(const BlockConfig& config, Rng& rng);
  // x [rows, width] to the same shape.
  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

// Adds the output of a function to its input, with the norm before or after.
struct Sublayer {
  Norm norm;
  NormPlace place = NormPlace::kPre;
  Dropout dropout;

  Sublayer() = default;
  explicit Sublayer(const BlockConfig& config)
      : norm(config), place(config.norm_place), dropout{config.dropout} {}

  // x + dropout(f(norm(x))), or norm(x + dropout(f(x))).
  template <typename F>
  Tensor operator()(const Tensor& x, const F& f) const {
    if (place == NormPlace::kPre) return dropout(f(norm(x)), x);
    return norm(dropout(f(x), x));
  }
  void visit(Visitor& v) { norm.visit(v); }
};

// Self-attention and feed-forward: the block of an encoder or, if causal, of a language model.
struct SelfBlock {
  Sublayer self_norm, feed_forward_norm;
  MultiHeadAttention self;
  FeedForward feed_forward;

  SelfBlock() = default;
  SelfBlock(const BlockConfig& config, bool causal, const std::string& name, Rng& rng);
  // x [rows, width] to the same shape.
  Tensor operator()(const Tensor& x, const Packing& packing, const Mask& mask = {}) const;
  // The next rows of sequences whose earlier rows are in the cache.
  Tensor step(const Tensor& x, const Packing& packing, KeyValueCache& cache,
              const Mask& mask = {}) const;
  void visit(Visitor& v);
};

// Self-attention, cross-attention to the source, and feed-forward: the block of a decoder.
struct CrossBlock {
  Sublayer self_norm, cross_norm, feed_forward_norm;
  MultiHeadAttention self, cross;
  FeedForward feed_forward;

  CrossBlock() = default;
  CrossBlock(const BlockConfig& config, const std::string& name, Rng& rng);
  // x [rows, width] to the same shape; source [key rows, width].
  Tensor operator()(const Tensor& x, const Packing& packing, const Tensor& source,
                    const Packing& keys) const;

  // What a decoder keeps between steps.
  struct Memory {
    KeyValueCache self, source;
  };
  // The rows of a step: `packing` divides them by hypothesis and `by_record` by record; `earlier`
  // is the number of earlier rows of each record.
  struct Rows {
    Packing packing, by_record;
    std::vector<int32_t> earlier;
  };
  // The next rows of each hypothesis, x [rows, width] to the same shape.
  Tensor step(const Tensor& x, const Rows& rows, Memory& memory) const;
  void visit(Visitor& v);
};

}  // namespace attend
