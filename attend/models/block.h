// The blocks that Transformers are stacks of: attention and a feed-forward layer, each added to its
// input, with a norm before or after (Vaswani et al., 2017; Xiong et al., 2020).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attend/models/placed_embedding.h"
#include "attend/nn/dropout.h"
#include "attend/nn/norm.h"

namespace attend {

enum class NormPlace {
  kPre,   // x + f(norm(x)), and a norm at the end (Xiong et al., 2020)
  kPost,  // norm(x + f(x)), as published
};
std::string_view name_of(NormPlace place);

enum class NormKind { kLayer, kRms };
std::string_view name_of(NormKind kind);

enum class FeedForwardKind { kRelu, kGelu, kGeluTanh, kSwiglu };
std::string_view name_of(FeedForwardKind kind);

// What the blocks of one model share.
struct BlockConfig {
  size_t width = 0, feed_forward = 0;
  MultiHeadConfig attention = {};  // all but its width, causality and dropout of weights
  NormPlace norm_place = NormPlace::kPre;
  NormKind norm = NormKind::kLayer;
  float norm_epsilon = 1e-5f;
  FeedForwardKind activation = FeedForwardKind::kRelu;
  bool bias = true;                 // of linear layers and layer norms
  float dropout = 0.0f;             // of what each sublayer adds
  float activation_dropout = 0.0f;  // inside the feed-forward layers
};

// Throws ConfigError, which begins with `model`, for a weighting that cannot be trained through, or
// that walks from key to key as self-attention has no order to.
void check_self_attention(std::string_view model, const MultiHeadConfig& config);

// A layer norm or an RMS norm.
struct Norm {
  NormKind kind = NormKind::kLayer;
  Tensor weight, bias;  // [width]; an RMS norm has no bias, and a layer norm may have none
  float epsilon = 1e-5f;

  Norm() = default;
  explicit Norm(const BlockConfig& config);
  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

// Two layers on each row by itself; SwiGLU (Shazeer, 2020) has a gate beside the first.
struct FeedForward {
  FeedForwardKind kind = FeedForwardKind::kRelu;
  float dropout = 0.0f;
  Linear in, gate, out;

  FeedForward() = default;
  FeedForward(const BlockConfig& config, Rng& rng);
  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

// One of the functions that a block adds to its input, with the norm before or after.
struct Sublayer {
  Norm norm;
  NormPlace place = NormPlace::kPre;
  Dropout dropout;

  Sublayer() = default;
  explicit Sublayer(const BlockConfig& config)
      : norm(config), place(config.norm_place), dropout{config.dropout} {}

  template <typename F>
  Tensor operator()(const Tensor& x, const F& f) const {
    if (place == NormPlace::kPre) return dropout(f(norm(x)), x);
    return norm(dropout(f(x), x));
  }
  void visit(Visitor& v) { norm.visit(v); }
};

// A sequence looks at itself: the block of an encoder or, causal, of a language model.
struct SelfBlock {
  Sublayer self_norm, feed_forward_norm;
  MultiHeadAttention self;
  FeedForward feed_forward;

  SelfBlock() = default;
  SelfBlock(const BlockConfig& config, bool causal, const std::string& name, Rng& rng);
  Tensor operator()(const Tensor& x, const Packing& packing, const Mask& mask = {}) const;
  // The next rows of sequences whose earlier rows are in the cache.
  Tensor step(const Tensor& x, const Packing& packing, KeyValueCache& cache,
              const Mask& mask = {}) const;
  void visit(Visitor& v);
};

// What is written looks at itself, then at what was read: the block of a decoder.
struct CrossBlock {
  Sublayer self_norm, cross_norm, feed_forward_norm;
  MultiHeadAttention self, cross;
  FeedForward feed_forward;

  CrossBlock() = default;
  CrossBlock(const BlockConfig& config, const std::string& name, Rng& rng);
  Tensor operator()(const Tensor& x, const Packing& packing, const Tensor& source,
                    const Packing& keys) const;

  struct Memory {
    KeyValueCache self, source;
  };
  // Rows of the hypotheses of a step: one sequence each in `packing`, and those of a record
  // together in `by_record`, each of which has had `earlier` rows.
  struct Rows {
    Packing packing, by_record;
    std::vector<int32_t> earlier;
  };
  Tensor step(const Tensor& x, const Rows& rows, Memory& memory) const;
  void visit(Visitor& v);
};

}  // namespace attend
